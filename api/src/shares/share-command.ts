import { ShareId } from "@relicario/shared/api";
import { and, asc, count, eq, max } from "drizzle-orm";

import { lockedTransaction } from "../accounts/lock-account.ts";
import { adjustStorageUsed } from "../accounts/storage-used.ts";
import { runCommand, CommandError } from "../commands/run-command.ts";
import type { Db } from "../db/database.ts";
import { shareReports } from "../db/schema.ts";
import { queueMail } from "../mail/mailer.ts";
import { findOwnerId } from "../public-ids/directory.ts";
import { revokeShare } from "./end-shares.ts";
import { getEndReason, findShare } from "./queries.ts";

/*
 * `pnpm --filter @relicario/api run share end|show <id>` and `share reported`, for the operator.
 * Needs only DATABASE_URL; running processes see the change at their next call.
 */

const usage = "usage: share end|show <id>, share reported";

runCommand("share", async (db, [action, shareId]) => {
  if (action === "reported" && shareId === undefined) return formatReportedShares(db);
  if ((action !== "end" && action !== "show") || shareId === undefined) throw new CommandError(usage, 64);
  const accountId = ShareId.safeParse(shareId).success ? await findOwnerId(db, "share", shareId) : null;
  if (accountId === null) throw new CommandError("share: no such share", 1);
  if (action === "end") {
    await lockedTransaction(db, accountId, async (tx) => {
      const now = new Date();
      const previous = await findShare(tx, accountId, shareId);
      await adjustStorageUsed(tx, accountId, -(await revokeShare(tx, accountId, shareId, now)));
      if (previous !== null && getEndReason(previous, now) === null)
        await queueMail(tx, accountId, "share_ended", { now });
    });
  }
  const share = await findShare(db, accountId, shareId);
  const reports = await db
    .select({ reason: shareReports.reason, message: shareReports.message, at: shareReports.createdAt })
    .from(shareReports)
    .where(and(eq(shareReports.accountId, accountId), eq(shareReports.shareId, shareId)))
    .orderBy(asc(shareReports.id));
  const lines = reports.map(
    ({ reason, message, at }) =>
      `${at.toISOString()} ${reason}${message === null ? "" : ` ${JSON.stringify(message)}`}`,
  );
  return [
    `${shareId}: of account ${accountId}, ${(share === null ? null : getEndReason(share, new Date())) ?? "live"}, opened ${String(share?.views ?? 0)} times`,
    ...lines,
  ].join("\n");
});

/** The last hundred reported shares, newest first. */
async function formatReportedShares(db: Db): Promise<string> {
  const lastReportedAt = max(shareReports.createdAt);
  const rows = await db
    .select({ shareId: shareReports.shareId, reports: count(), last: lastReportedAt })
    .from(shareReports)
    .groupBy(shareReports.accountId, shareReports.shareId)
    .orderBy(lastReportedAt)
    .limit(100);
  return rows.length === 0
    ? "share: nothing was reported"
    : rows
        .reverse()
        .map(({ shareId, reports, last: at }) => `${shareId} ${String(reports)} ${at?.toISOString() ?? ""}`)
        .join("\n");
}
