import type { ReportShareBody } from "@relicario/shared/api";
import { lte } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";
import type { z } from "zod";

import { shareReports } from "../db/schema.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { findOwnerId } from "../public-ids/directory.ts";
import { deleteDueRows, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";

const reportRetentionDays = 90;

/**
 * Stores a report, up to a daily limit per share, and sends the operator a mail about the first.
 * Ignores unknown shares.
 *
 * @returns whether it was stored.
 */
export async function saveReport(
  { db, env, limiter, mailer, now }: Services,
  { share_id: shareId, reason, message }: z.infer<typeof ReportShareBody>,
): Promise<boolean> {
  const accountId = await findOwnerId(db, "share", shareId);
  if (
    accountId === null ||
    !(await limiter.tryConsume(rateLimitRules.reportsPerShare, { subject: `share ${shareId}` }))
  )
    return false;
  const at = now();
  const operatorEmail = env.OPERATOR_EMAIL;
  await db.transaction(async (tx) => {
    await tx.insert(shareReports).values({
      accountId,
      shareId,
      id: uuidv7({ msecs: at.getTime() }),
      reason,
      message: message ?? null,
      createdAt: at,
    });
    if (
      operatorEmail === undefined ||
      !(await limiter.tryConsume(rateLimitRules.firstReport, { subject: `share ${shareId}` }, tx))
    )
      return;
    if (await limiter.tryConsume(rateLimitRules.reportMail, { subject: "operator" }, tx))
      await mailer.queue(tx, accountId, "share_reported", { now: at, address: operatorEmail, shareId });
  });
  return true;
}

export function deleteExpiredReports({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const { accountId, shareId, id, createdAt } = shareReports;
  const dueCondition = lte(createdAt, new Date(context.now.getTime() - reportRetentionDays * 86_400_000));
  return deleteDueRows(db, context, [accountId, shareId, id], dueCondition);
}
