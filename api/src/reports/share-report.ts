import type { ReportShare } from "@relicario/shared/api";
import { and, eq, lte, sql } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";
import type { z } from "zod";

import type { Db } from "../db/database.ts";
import { shareReports } from "../db/schema.ts";
import { rateRules } from "../http/rate-limits.ts";
import { ownerOf } from "../public-ids/directory.ts";
import { deleteInBatches, forEachAccount, type Sweeping } from "../operations/sweeping.ts";
import type { Services } from "../services.ts";

/** What people write about others is not kept for ever. */
const reportDays = 90;

/**
 * Keeps a report, so many of one share a day, and tells the operator of the first of them. One of a
 * share that is not there is not kept.
 *
 * @returns whether it was kept.
 */
export async function keepReport(
  { db, env, limiter, mailer, now }: Services,
  { share_id: shareId, reason, message }: z.infer<typeof ReportShare>,
): Promise<boolean> {
  const accountId = await ownerOf(db, "share", shareId);
  if (accountId === null || !(await limiter.passes(rateRules.reportsOfShare, { subject: `share ${shareId}` })))
    return false;
  const at = now();
  const operator = env.OPERATOR_EMAIL;
  await db.transaction(async (tx) => {
    await tx.insert(shareReports).values({
      accountId,
      shareId,
      id: uuidv7({ msecs: at.getTime() }),
      reason,
      message: message ?? null,
      createdAt: at,
    });
    if (operator === undefined || !(await limiter.passes(rateRules.firstReport, { subject: `share ${shareId}` }, tx)))
      return;
    if (await limiter.passes(rateRules.mailOfReports, { subject: "operator" }, tx))
      await mailer.queue(tx, accountId, "share_reported", { now: at, address: operator, shareId });
  });
  return true;
}

export function dropOldReports(db: Db, sweeping: Sweeping): Promise<void> {
  const { accountId, shareId, id, createdAt } = shareReports;
  const due = lte(createdAt, new Date(sweeping.now.getTime() - reportDays * 86_400_000));
  return forEachAccount(db, sweeping, { accountId, due }, (account) =>
    deleteInBatches(sweeping, (rows) => {
      const mine = and(eq(accountId, account), due);
      const some = db.select({ shareId, id }).from(shareReports).where(mine).limit(rows);
      return db.delete(shareReports).where(and(mine, sql`(${shareId}, ${id}) in ${some}`));
    }),
  );
}
