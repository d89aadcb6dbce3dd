import { shareWarningHours } from "@relicario/shared/api";
import { and, eq, isNull, lte, sql } from "drizzle-orm";

import { lockAccount } from "../accounts/lock-account.ts";
import { shares } from "../db/schema.ts";
import { forEachAccount, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";
import { isOpenable } from "./queries.ts";

/**
 * Says by mail that shares end within a day, once for each and in one mail for an account. Those
 * that were made for less than two days end as they were meant to.
 */
export function warnBeforeExpiry(
  { db, mailer }: Pick<Services, "db" | "mailer">,
  context: SweepContext,
): Promise<void> {
  const { now } = context;
  const warningCutoff = new Date(now.getTime() + shareWarningHours * 3_600_000);
  const isLongLived = sql`${shares.expiresAt} - ${shares.createdAt} >= make_interval(hours => ${2 * shareWarningHours})`;
  const isDue = and(isOpenable(now), lte(shares.expiresAt, warningCutoff), isNull(shares.endMailAt), isLongLived);
  return forEachAccount(db, context, { accountId: shares.accountId, due: isDue }, (accountId) =>
    db.transaction(async (tx) => {
      await lockAccount(tx, accountId);
      const warnedShares = await tx
        .update(shares)
        .set({ endMailAt: now })
        .where(and(eq(shares.accountId, accountId), isDue))
        .returning({ shareId: shares.shareId });
      if (warnedShares.length > 0) await mailer.queue(tx, accountId, "share_expiring", { now });
    }),
  );
}
