import { trashDays } from "@relicario/shared/api";
import { and, eq, lte, sql } from "drizzle-orm";

import type { Db } from "../db/database.ts";
import { keyringFormer } from "../db/schema.ts";
import { forEachAccount, type Sweeping } from "../operations/sweeping.ts";
import { addStorage, octetLength } from "../secrets/queries.ts";
import { lockAccount } from "./queries.ts";

/** In one transaction: each has half a megabyte at most, and is deleted without being read. */
const rowsAtOnce = 1_000;

/**
 * Slots, image records, books, shares and requests that a change replaced or removed 30 days ago.
 */
export function dropFormer(db: Db, sweeping: Sweeping): Promise<void> {
  const { accountId, stateRev, part, partId, value, endedAt } = keyringFormer;
  const due = lte(endedAt, new Date(sweeping.now.getTime() - trashDays * 86_400_000));
  const dropSome = (account: string): Promise<number> =>
    db.transaction(async (tx) => {
      await lockAccount(tx, account);
      const some = tx
        .select({ stateRev, part, partId })
        .from(keyringFormer)
        .where(and(eq(accountId, account), due))
        .limit(rowsAtOnce);
      const gone = await tx
        .delete(keyringFormer)
        .where(and(eq(accountId, account), sql`(${stateRev}, ${part}, ${partId}) in ${some}`))
        .returning({ bytes: octetLength(value) });
      await addStorage(tx, account, -gone.reduce((sum, { bytes }) => sum + bytes, 0));
      return gone.length;
    });
  return forEachAccount(db, sweeping, { accountId, due }, async (account) => {
    while ((await dropSome(account)) === rowsAtOnce && !sweeping.signal.aborted);
  });
}
