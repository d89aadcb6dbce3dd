import { trashDays } from "@relicario/shared/api";
import { and, eq, isNotNull, lte, sql } from "drizzle-orm";

import type { Db } from "../db/database.ts";
import { shareClaims, shares } from "../db/schema.ts";
import { lockAccount } from "../keyring/queries.ts";
import { deleteInBatches, forEachAccount, type Sweeping } from "../operations/sweeping.ts";
import { addStorage } from "../secrets/queries.ts";
import { dropTickets } from "./end.ts";
import { oldestClaim } from "./open.ts";

/**
 * Tickets and helpers of shares that ended 30 days ago by their time. The rows stay: the device
 * compares them with what it signed.
 */
export function dropOldTickets(db: Db, sweeping: Sweeping): Promise<void> {
  const due = and(
    isNotNull(shares.ticket),
    lte(shares.expiresAt, new Date(sweeping.now.getTime() - trashDays * 86_400_000)),
  );
  return forEachAccount(db, sweeping, { accountId: shares.accountId, due }, (accountId) =>
    db.transaction(async (tx) => {
      await lockAccount(tx, accountId);
      await addStorage(tx, accountId, -(await dropTickets(tx, accountId, due)));
    }),
  );
}

/** Claims whose opening can no longer be repeated. */
export function dropOldClaims(db: Db, sweeping: Sweeping): Promise<void> {
  const { accountId, shareId, claimId, usedAt } = shareClaims;
  const due = lte(usedAt, oldestClaim(sweeping.now));
  return forEachAccount(db, sweeping, { accountId, due }, (account) =>
    deleteInBatches(sweeping, (rows) => {
      const mine = and(eq(accountId, account), due);
      const some = db.select({ shareId, claimId }).from(shareClaims).where(mine).limit(rows);
      return db.delete(shareClaims).where(and(mine, sql`(${shareId}, ${claimId}) in ${some}`));
    }),
  );
}
