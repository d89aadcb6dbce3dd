import { resetDataRetentionDays, accountResetLapseDays } from "@relicario/shared/api";
import { and, eq, inArray, isNotNull, isNull, lte, or } from "drizzle-orm";

import { lockedTransaction } from "../accounts/lock-account.ts";
import { adjustStorageUsed, octetLength } from "../accounts/storage-used.ts";
import { createAccountScope } from "../auth/actor.ts";
import { requests, archivedSecrets, accountResets } from "../db/schema.ts";
import { dropAnswerContent } from "../requests/queries.ts";
import { forEachAccount, repeatBatches, type SweepContext } from "../resource/sweep-context.ts";
import { deleteVersions } from "../secrets/queries.ts";
import type { Services } from "../services/services.ts";

/** Secrets deleted in one transaction. Each can have 50 versions of 1000 objects. */
const secretsPerBatch = 20;

const subtractDays = (now: Date, days: number): Date => new Date(now.getTime() - days * 86_400_000);

/**
 * Deletes the data from before account resets, 30 days after each: archived secrets, then answers
 * to requests, then the reset's record.
 */
export async function deletePreResetData(
  services: Pick<Services, "db" | "onContentsRemoved">,
  context: SweepContext,
): Promise<void> {
  await deleteArchivedSecrets(services, context);
  await deleteAnswersAndResetRecords(services, context);
}

function deleteArchivedSecrets(
  services: Pick<Services, "db" | "onContentsRemoved">,
  context: SweepContext,
): Promise<void> {
  const { db } = services;
  const { id, label, archivedAt } = archivedSecrets;
  const dueCondition = lte(archivedAt, subtractDays(context.now, resetDataRetentionDays));
  const deleteBatch = (accountId: string): Promise<number> =>
    lockedTransaction(db, accountId, async (tx, { vendorId }) => {
      const batch = await tx
        .select({ id, labelBytes: octetLength(label) })
        .from(archivedSecrets)
        .where(and(eq(archivedSecrets.accountId, accountId), dueCondition))
        .limit(secretsPerBatch);
      if (batch.length === 0) return 0;
      const ids = batch.map((row) => row.id);
      const freedBytes = await deleteVersions(services, tx, createAccountScope(accountId, vendorId), ids, context.now);
      await tx.delete(archivedSecrets).where(and(eq(archivedSecrets.accountId, accountId), inArray(id, ids)));
      await adjustStorageUsed(tx, accountId, -batch.reduce((sum, { labelBytes }) => sum + labelBytes, freedBytes));
      return batch.length;
    });
  return forEachAccount(db, context, { accountId: archivedSecrets.accountId, dueCondition }, (accountId) =>
    repeatBatches(context, secretsPerBatch, () => deleteBatch(accountId)),
  );
}

/**
 * Deletes records of resets that lapsed or that ended 30 days ago. Before the record of a completed
 * reset, deletes the answers to requests from before it.
 */
function deleteAnswersAndResetRecords({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const { outcome, endedAt, readyAt } = accountResets;
  const endedCondition = lte(endedAt, subtractDays(context.now, resetDataRetentionDays));
  const lapsedCondition = and(isNull(endedAt), lte(readyAt, subtractDays(context.now, accountResetLapseDays)));
  const dueCondition = or(endedCondition, lapsedCondition);
  return forEachAccount(db, context, { accountId: accountResets.accountId, dueCondition }, (accountId) =>
    lockedTransaction(db, accountId, async (tx) => {
      const [completedReset] = await tx
        .select({ endedAt })
        .from(accountResets)
        .where(and(eq(accountResets.accountId, accountId), eq(outcome, "begun"), endedCondition));
      if (completedReset?.endedAt != null) {
        const requestedBeforeResetCondition = and(
          eq(requests.accountId, accountId),
          isNotNull(requests.answerId),
          lte(requests.createdAt, completedReset.endedAt),
        );
        let freedBytes = 0;
        for (const request of await tx.select().from(requests).where(requestedBeforeResetCondition))
          freedBytes += await dropAnswerContent(tx, request, context.now);
        await adjustStorageUsed(tx, accountId, -freedBytes);
      }
      await tx.delete(accountResets).where(and(eq(accountResets.accountId, accountId), dueCondition));
    }),
  );
}
