import type { Db } from "../db/database.ts";
import type { Resource } from "../resource/resource.ts";
import { deleteReleasedNames } from "./user-names.ts";

export const userNames: Resource<{ readonly db: Db }> = { sweeps: { names: deleteReleasedNames } };
