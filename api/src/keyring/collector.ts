import { trashRetentionDays } from "@relicario/shared/api";
import { and, eq, lte, sql } from "drizzle-orm";

import { lockAccount } from "../accounts/lock-account.ts";
import { adjustStorageUsed, octetLength } from "../accounts/storage-used.ts";
import { formerKeyringParts } from "../db/schema.ts";
import { forEachAccount, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";

/** In one transaction: each has half a megabyte at most, and is deleted without being read. */
const rowsPerBatch = 1_000;

/**
 * Slots, image records, books, shares and requests that a change replaced or removed 30 days ago.
 */
export function deleteFormerKeyringParts({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const { accountId, stateRev, part, partId, value, endedAt } = formerKeyringParts;
  const isDue = lte(endedAt, new Date(context.now.getTime() - trashRetentionDays * 86_400_000));
  const deleteBatch = (dueAccountId: string): Promise<number> =>
    db.transaction(async (tx) => {
      await lockAccount(tx, dueAccountId);
      const batch = tx
        .select({ stateRev, part, partId })
        .from(formerKeyringParts)
        .where(and(eq(accountId, dueAccountId), isDue))
        .limit(rowsPerBatch);
      const deleted = await tx
        .delete(formerKeyringParts)
        .where(and(eq(accountId, dueAccountId), sql`(${stateRev}, ${part}, ${partId}) in ${batch}`))
        .returning({ bytes: octetLength(value) });
      await adjustStorageUsed(tx, dueAccountId, -deleted.reduce((sum, { bytes }) => sum + bytes, 0));
      return deleted.length;
    });
  return forEachAccount(db, context, { accountId, due: isDue }, async (dueAccountId) => {
    while ((await deleteBatch(dueAccountId)) === rowsPerBatch && !context.signal.aborted);
  });
}
