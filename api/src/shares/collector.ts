import { trashRetentionDays } from "@relicario/shared/api";
import { and, eq, isNotNull, lte, sql } from "drizzle-orm";

import { lockAccount } from "../accounts/lock-account.ts";
import { adjustStorageUsed } from "../accounts/storage-used.ts";
import { shareClaims, shares } from "../db/schema.ts";
import { deleteInBatches, forEachAccount, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";
import { dropTickets } from "./end-shares.ts";
import { getClaimCutoff } from "./open-share.ts";

/**
 * Tickets and helpers of shares that ended 30 days ago by their time. The rows stay: the device
 * compares them with what it signed.
 */
export function dropExpiredTickets({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const isDue = and(
    isNotNull(shares.ticket),
    lte(shares.expiresAt, new Date(context.now.getTime() - trashRetentionDays * 86_400_000)),
  );
  return forEachAccount(db, context, { accountId: shares.accountId, due: isDue }, (accountId) =>
    db.transaction(async (tx) => {
      await lockAccount(tx, accountId);
      await adjustStorageUsed(tx, accountId, -(await dropTickets(tx, accountId, isDue)));
    }),
  );
}

/** Claims whose opening can no longer be repeated. */
export function deleteExpiredClaims({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const { accountId, shareId, claimId, usedAt } = shareClaims;
  const isDue = lte(usedAt, getClaimCutoff(context.now));
  return forEachAccount(db, context, { accountId, due: isDue }, (dueAccountId) =>
    deleteInBatches(context, (batchSize) => {
      const isDueInAccount = and(eq(accountId, dueAccountId), isDue);
      const batch = db.select({ shareId, claimId }).from(shareClaims).where(isDueInAccount).limit(batchSize);
      return db.delete(shareClaims).where(and(isDueInAccount, sql`(${shareId}, ${claimId}) in ${batch}`));
    }),
  );
}
