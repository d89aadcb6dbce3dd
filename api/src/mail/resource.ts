import type { Resource } from "../resource/resource.ts";
import { unsubscribeRoutes, type UnsubscribeServices } from "./unsubscribe.ts";

export const unsubscribing: Resource<UnsubscribeServices> = { routes: unsubscribeRoutes };
