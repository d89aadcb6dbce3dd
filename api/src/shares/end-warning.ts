import { shareWarningHours } from "@relicario/shared/api";
import { and, eq, isNull, lte, sql } from "drizzle-orm";

import type { Db } from "../db/database.ts";
import { shares } from "../db/schema.ts";
import { lockAccount } from "../keyring/queries.ts";
import type { Mailer } from "../mail/mailer.ts";
import { forEachAccount, type Sweeping } from "../operations/sweeping.ts";
import { canBeOpened } from "./queries.ts";

/**
 * Says by mail that shares end within a day, once for each and in one mail for an account. Those
 * that were made for less than two days end as they were meant to.
 */
export function warnOfEnding(db: Db, mailer: Mailer, sweeping: Sweeping): Promise<void> {
  const { now } = sweeping;
  const soon = new Date(now.getTime() + shareWarningHours * 3_600_000);
  const isLong = sql`${shares.expiresAt} - ${shares.createdAt} >= make_interval(hours => ${2 * shareWarningHours})`;
  const due = and(canBeOpened(now), lte(shares.expiresAt, soon), isNull(shares.endMailAt), isLong);
  return forEachAccount(db, sweeping, { accountId: shares.accountId, due }, (accountId) =>
    db.transaction(async (tx) => {
      await lockAccount(tx, accountId);
      const ending = await tx
        .update(shares)
        .set({ endMailAt: now })
        .where(and(eq(shares.accountId, accountId), due))
        .returning({ shareId: shares.shareId });
      if (ending.length > 0) await mailer.queue(tx, accountId, "share_expiring", { now });
    }),
  );
}
