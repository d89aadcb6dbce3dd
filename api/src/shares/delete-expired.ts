import { endedRowRetentionDays, trashRetentionDays } from "@relicario/shared/api";
import { and, eq, isNotNull, isNull, lte, sql } from "drizzle-orm";

import { lockedTransaction } from "../accounts/lock-account.ts";
import { adjustStorageUsed } from "../accounts/storage-used.ts";
import { shareClaims, shareRecipients, shares } from "../db/schema.ts";
import { deleteDueRows, forEachAccount, forEachDue, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";
import { dropTickets } from "./end-shares.ts";
import { getClaimCutoff } from "./open-share.ts";
import { findShare } from "./queries.ts";

/**
 * Drops tickets and helpers of shares that expired 30 days ago. The rows stay for a while: the
 * device compares them with its signed list.
 */
export function dropExpiredTickets({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const dueCondition = and(
    isNotNull(shares.ticket),
    lte(shares.expiresAt, new Date(context.now.getTime() - trashRetentionDays * 86_400_000)),
  );
  return forEachAccount(db, context, { accountId: shares.accountId, dueCondition }, (accountId) =>
    lockedTransaction(db, accountId, async (tx) => {
      await adjustStorageUsed(tx, accountId, -(await dropTickets(tx, accountId, dueCondition)));
    }),
  );
}

/**
 * Deletes shares that expired 90 days ago. Their public ids stay: else a former recipient could
 * serve something else under the same link.
 */
export function deleteEndedShares({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const { accountId, shareId, ticket, expiresAt } = shares;
  const dueCondition = sql`${isNull(ticket)} and ${lte(expiresAt, getRetentionCutoff(context))}`;
  return deleteDueRows(db, context, [accountId, shareId], dueCondition);
}

/** Deletes entries of recipients once the share, which is another account's, is deleted. */
export function deleteLeftoverRecipients({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const { accountId, shareId, ownerId, addedAt } = shareRecipients;
  const dueCondition = lte(addedAt, getRetentionCutoff(context));
  return forEachDue(db, context, { accountId, shareId, ownerId }, dueCondition, async (entry) => {
    if ((await findShare(db, entry.ownerId, entry.shareId)) !== null) return;
    await db.delete(shareRecipients).where(and(eq(accountId, entry.accountId), eq(shareId, entry.shareId)));
  });
}

const getRetentionCutoff = ({ now }: SweepContext): Date =>
  new Date(now.getTime() - endedRowRetentionDays * 86_400_000);

/** Deletes claims that can no longer be repeated. */
export function deleteExpiredClaims({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const { accountId, shareId, claimId, usedAt } = shareClaims;
  return deleteDueRows(db, context, [accountId, shareId, claimId], lte(usedAt, getClaimCutoff(context.now)));
}
