import { shareWarningHours } from "@relicario/shared/api";
import { and, eq, isNull, lte, sql } from "drizzle-orm";

import { lockedTransaction } from "../accounts/lock-account.ts";
import { shares } from "../db/schema.ts";
import { forEachAccount, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";
import { whereOpenable } from "./queries.ts";

/**
 * Queues one mail per account about shares that expire within a day, once for each share. Shares
 * that last less than two days are skipped.
 */
export function warnBeforeExpiry(
  { db, mailer }: Pick<Services, "db" | "mailer">,
  context: SweepContext,
): Promise<void> {
  const { now } = context;
  const warningCutoff = new Date(now.getTime() + shareWarningHours * 3_600_000);
  const longLivedCondition = sql`${shares.expiresAt} - ${shares.createdAt} >= make_interval(hours => ${2 * shareWarningHours})`;
  const dueCondition = and(
    whereOpenable(now),
    lte(shares.expiresAt, warningCutoff),
    isNull(shares.expiryMailAt),
    longLivedCondition,
  );
  return forEachAccount(db, context, { accountId: shares.accountId, dueCondition }, (accountId) =>
    lockedTransaction(db, accountId, async (tx) => {
      const warnedShares = await tx
        .update(shares)
        .set({ expiryMailAt: now })
        .where(and(eq(shares.accountId, accountId), dueCondition))
        .returning({ shareId: shares.shareId });
      if (warnedShares.length > 0) await mailer.queue(tx, accountId, "share_expiring", { now });
    }),
  );
}
