import { trashRetentionDays } from "@relicario/shared/api";
import { and, eq, lte, sql } from "drizzle-orm";

import { lockedTransaction } from "../accounts/lock-account.ts";
import { adjustStorageUsed, octetLength } from "../accounts/storage-used.ts";
import { formerKeyringParts } from "../db/schema.ts";
import { forEachAccount, repeatBatches, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";

/**
 * Rows deleted in one transaction. Each has half a megabyte at most, and is deleted without being
 * read.
 */
const rowsPerBatch = 1_000;

/**
 * Deletes slots, image records, books, shares and requests that a change replaced or removed 30
 * days ago.
 */
export function deleteFormerKeyringParts({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const { accountId, stateRev, part, partId, value, endedAt } = formerKeyringParts;
  const dueCondition = lte(endedAt, new Date(context.now.getTime() - trashRetentionDays * 86_400_000));
  const deleteBatch = (dueAccountId: string): Promise<number> =>
    lockedTransaction(db, dueAccountId, async (tx) => {
      const batch = tx
        .select({ stateRev, part, partId })
        .from(formerKeyringParts)
        .where(and(eq(accountId, dueAccountId), dueCondition))
        .limit(rowsPerBatch);
      const deletedRows = await tx
        .delete(formerKeyringParts)
        .where(and(eq(accountId, dueAccountId), sql`(${stateRev}, ${part}, ${partId}) in ${batch}`))
        .returning({ bytes: octetLength(value) });
      await adjustStorageUsed(tx, dueAccountId, -deletedRows.reduce((sum, { bytes }) => sum + bytes, 0));
      return deletedRows.length;
    });
  return forEachAccount(db, context, { accountId, dueCondition }, (dueAccountId) =>
    repeatBatches(context, rowsPerBatch, () => deleteBatch(dueAccountId)),
  );
}
