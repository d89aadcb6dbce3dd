import { trashDays } from "@relicario/shared/api";
import { lte, sql } from "drizzle-orm";

import type { Db } from "../db/database.ts";
import { keyringFormer } from "../db/schema.ts";
import { deleteInBatches, type Sweeping } from "../operations/sweeping.ts";

/** Slots, image records, books, shares and requests that a change replaced or removed 30 days ago. */
export async function dropFormer(db: Db, sweeping: Sweeping): Promise<void> {
  const { accountId, stateRev, part, partId, endedAt } = keyringFormer;
  const due = lte(endedAt, new Date(sweeping.now.getTime() - trashDays * 86_400_000));
  await deleteInBatches(sweeping, (rows) => {
    const some = db.select({ accountId, stateRev, part, partId }).from(keyringFormer).where(due).limit(rows);
    return db.delete(keyringFormer).where(sql`(${accountId}, ${stateRev}, ${part}, ${partId}) in ${some}`);
  });
}
