import type { Resource } from "../resource/resource.ts";
import type { Services } from "../services/services.ts";
import { deleteExpiredUploads } from "./cancel.ts";
import { uploadRoutes } from "./routes.ts";

export const uploads: Resource<Services> = { routes: uploadRoutes, sweeps: { uploads: deleteExpiredUploads } };
