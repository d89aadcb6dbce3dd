import type { Db } from "../db/database.ts";
import type { Resource } from "../resource/resource.ts";
import { deleteExpiredActivity } from "./queries.ts";
import { activityRoutes } from "./routes.ts";

export const activityList: Resource<{ readonly db: Db }> = {
  routes: activityRoutes,
  sweeps: { activity: deleteExpiredActivity },
};
