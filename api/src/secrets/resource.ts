import type { Resource } from "../resource/resource.ts";
import type { Services } from "../services/services.ts";
import { purgeContents } from "./purge.ts";
import { secretRoutes } from "./routes.ts";
import { warnBeforeDropping, dropTrashedContents } from "./drop-trashed.ts";

export const secrets: Resource<Services> = {
  routes: secretRoutes,
  sweeps: { warnings: warnBeforeDropping, trash: dropTrashedContents },
  onKeyringChange: purgeContents,
};
