import type { Resource } from "../resource/resource.ts";
import type { Services } from "../services/services.ts";
import { billingRoutes } from "./routes.ts";

export const billing: Resource<Services> = { routes: billingRoutes };
