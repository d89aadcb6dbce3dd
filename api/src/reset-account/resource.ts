import type { Resource } from "../resource/resource.ts";
import type { Services } from "../services/services.ts";
import { deletePreResetData } from "./delete-expired.ts";
import { accountResetRoutes } from "./routes.ts";

export const accountReset: Resource<Services> = {
  routes: accountResetRoutes,
  sweeps: { set_aside: deletePreResetData },
};
