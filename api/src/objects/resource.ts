import type { ObjectStore } from "@relicario/tooling/objects";

import type { Db } from "../db/database.ts";
import type { Resource } from "../resource/resource.ts";
import { collectOrphans } from "./orphaned-objects.ts";

export const objects: Resource<{ readonly db: Db; readonly objects: ObjectStore }> = {
  sweeps: { objects: collectOrphans },
};
