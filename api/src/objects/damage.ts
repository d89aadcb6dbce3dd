import { and, eq } from "drizzle-orm";
import type { FastifyBaseLogger } from "fastify";
import { Counter, type Registry } from "prom-client";

import type { Db } from "../db/database.ts";
import { uploadParts, versionObjects } from "../db/schema.ts";
import { damageFindings, type ObjectSource } from "./verified-object.ts";

/**
 * Counts damaged objects in `/metrics` and logs their keys, which are not secret and let an
 * operator restore them. An object that is missing because its row was deleted during the read is
 * not damaged.
 */
export function createDamageReporter(db: Db, log: FastifyBaseLogger, registry: Registry): ObjectSource["reportDamage"] {
  const damageCounter = new Counter({
    name: "relicario_damaged_objects_total",
    help: "Reads that found a damaged object",
    labelNames: ["finding"],
    registers: [registry],
  });
  for (const finding of damageFindings) damageCounter.inc({ finding }, 0);
  return async (key, finding) => {
    if (finding === "missing" && !(await isReferenced(db, key))) return;
    damageCounter.inc({ finding });
    log.error({ object: key, finding }, "a stored object is damaged");
  };
}

/**
 * Whether a row refers to the object. Keys begin with account and secret; parts of uploads and
 * answers are found by account.
 */
async function isReferenced(db: Db, key: string): Promise<boolean> {
  const [accountId = "", secretId = ""] = key.split("/");
  const versionRows = await db
    .select({ part: versionObjects.part })
    .from(versionObjects)
    .where(
      and(
        eq(versionObjects.accountId, accountId),
        eq(versionObjects.secretId, secretId),
        eq(versionObjects.objectKey, key),
      ),
    );
  if (versionRows.length > 0) return true;
  const partRows = await db
    .select({ part: uploadParts.part })
    .from(uploadParts)
    .where(and(eq(uploadParts.accountId, accountId), eq(uploadParts.objectKey, key)));
  return partRows.length > 0;
}
