import type { Resource } from "../resource/resource.ts";
import type { Services } from "../services/services.ts";
import { passwordRoutes } from "./routes.ts";

export const passwords: Resource<Services> = { routes: passwordRoutes };
