import { resetDataRetentionDays, accountResetLapseDays } from "@relicario/shared/api";
import { and, eq, inArray, isNotNull, isNull, lte, or } from "drizzle-orm";

import { lockAccount } from "../accounts/lock-account.ts";
import { adjustStorageUsed, octetLength } from "../accounts/storage-used.ts";
import { grantAccount } from "../auth/actor.ts";
import { requests, archivedSecrets, accountResets } from "../db/schema.ts";
import { dropAnswerContent } from "../requests/queries.ts";
import { forEachAccount, type SweepContext } from "../resource/sweep-context.ts";
import { deleteVersions } from "../secrets/queries.ts";
import type { Services } from "../services/services.ts";

/** In one transaction: each can have fifty versions of a thousand objects. */
const secretsPerBatch = 20;

const subtractDays = (now: Date, days: number): Date => new Date(now.getTime() - days * 86_400_000);

/**
 * What accounts had before they were started anew 30 days ago: secrets, then what came for
 * requests, then the note that it was so.
 */
export async function deleteArchivedData(
  services: Pick<Services, "db" | "onContentsEnd">,
  context: SweepContext,
): Promise<void> {
  await deleteArchivedSecrets(services, context);
  await deleteArchivedAnswers(services, context);
}

function deleteArchivedSecrets(services: Pick<Services, "db" | "onContentsEnd">, context: SweepContext): Promise<void> {
  const { db } = services;
  const { accountId, id, label, setAsideAt } = archivedSecrets;
  const isDue = lte(setAsideAt, subtractDays(context.now, resetDataRetentionDays));
  const deleteBatch = (dueAccountId: string): Promise<number> =>
    db.transaction(async (tx) => {
      const { vendorId } = await lockAccount(tx, dueAccountId);
      const batch = await tx
        .select({ id, labelBytes: octetLength(label) })
        .from(archivedSecrets)
        .where(and(eq(accountId, dueAccountId), isDue))
        .limit(secretsPerBatch);
      if (batch.length === 0) return 0;
      const ids = batch.map((row) => row.id);
      const freedBytes = await deleteVersions(services, tx, grantAccount(dueAccountId, vendorId), ids, context.now);
      await tx.delete(archivedSecrets).where(and(eq(accountId, dueAccountId), inArray(id, ids)));
      await adjustStorageUsed(tx, dueAccountId, -batch.reduce((sum, { labelBytes }) => sum + labelBytes, freedBytes));
      return batch.length;
    });
  return forEachAccount(db, context, { accountId, due: isDue }, async (dueAccountId) => {
    while ((await deleteBatch(dueAccountId)) === secretsPerBatch && !context.signal.aborted);
  });
}

/**
 * Answers that came before a new beginning, and all notes of what was asked for that are of no use
 * any more.
 */
function deleteArchivedAnswers({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const { accountId, ending, endedAt, readyAt } = accountResets;
  const isOver = lte(endedAt, subtractDays(context.now, resetDataRetentionDays));
  const hasLapsed = and(isNull(endedAt), lte(readyAt, subtractDays(context.now, accountResetLapseDays)));
  const isDue = or(isOver, hasLapsed);
  return forEachAccount(db, context, { accountId, due: isDue }, (dueAccountId) =>
    db.transaction(async (tx) => {
      await lockAccount(tx, dueAccountId);
      const [completedReset] = await tx
        .select({ endedAt })
        .from(accountResets)
        .where(and(eq(accountId, dueAccountId), eq(ending, "begun"), isOver));
      if (completedReset?.endedAt != null) {
        const isAnsweredBeforeReset = and(
          eq(requests.accountId, dueAccountId),
          isNotNull(requests.answerId),
          lte(requests.createdAt, completedReset.endedAt),
        );
        let freedBytes = 0;
        for (const request of await tx.select().from(requests).where(isAnsweredBeforeReset))
          freedBytes += await dropAnswerContent(tx, request, context.now);
        await adjustStorageUsed(tx, dueAccountId, -freedBytes);
      }
      await tx.delete(accountResets).where(and(eq(accountId, dueAccountId), isDue));
    }),
  );
}
