import type { Db } from "../db/database.ts";
import type { Resource } from "../resource/resource.ts";
import type { ObjectStore } from "./object-store.ts";
import { collectOrphans } from "./orphaned-objects.ts";

export const objects: Resource<{ readonly db: Db; readonly objects: ObjectStore }> = {
  sweeps: { objects: collectOrphans },
};
