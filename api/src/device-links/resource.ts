import type { Resource } from "../resource/resource.ts";
import type { Services } from "../services/services.ts";
import { deleteExpiredLinks } from "./queries.ts";
import { deviceLinkRoutes } from "./routes.ts";

export const deviceLinks: Resource<Services> = {
  routes: deviceLinkRoutes,
  sweeps: { device_links: deleteExpiredLinks },
};
