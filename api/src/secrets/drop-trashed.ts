import { and, eq, inArray, isNotNull, isNull, lte } from "drizzle-orm";

import { lockedTransaction } from "../accounts/lock-account.ts";
import { incrementChangeCounter } from "../accounts/change-counter.ts";
import { adjustStorageUsed } from "../accounts/storage-used.ts";
import { createAccountScope } from "../auth/actor.ts";
import { secrets } from "../db/schema.ts";
import { forEachAccount, repeatBatches, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";
import { dropVersions } from "./queries.ts";
import { getDropCutoffs, getWarningCutoff } from "./trash-times.ts";

/** Secrets handled in one transaction. Each can have fifty versions of a thousand objects. */
const secretsPerBatch = 20;

/** Queues one mail per account about contents that will be dropped in 7 days. */
export function warnBeforeDropping(
  { db, mailer }: Pick<Services, "db" | "mailer">,
  context: SweepContext,
): Promise<void> {
  const { now } = context;
  const dueCondition = and(
    isNotNull(secrets.trashConfirmedAt),
    isNull(secrets.droppedAt),
    isNull(secrets.dropWarnedAt),
    lte(secrets.trashConfirmedAt, getWarningCutoff(now)),
  );
  return forEachAccount(db, context, { accountId: secrets.accountId, dueCondition }, (accountId) =>
    lockedTransaction(db, accountId, async (tx) => {
      const warnedRows = await tx
        .update(secrets)
        .set({ dropWarnedAt: now })
        .where(and(eq(secrets.accountId, accountId), dueCondition))
        .returning({ id: secrets.id });
      if (warnedRows.length > 0) await mailer.queue(tx, accountId, "drop_warning", { now });
    }),
  );
}

/**
 * Drops contents and tickets that were confirmed to be in the trash 30 days ago, if their warning
 * is 7 days old. What only a session or metadata keys trashed is never dropped. The row stays until
 * the person purges it.
 */
export function dropTrashedContents(
  services: Pick<Services, "db" | "onContentsRemoved">,
  context: SweepContext,
): Promise<void> {
  const { db } = services;
  const { now } = context;
  const { confirmedBefore, warnedBefore } = getDropCutoffs(now);
  const dueCondition = and(
    isNotNull(secrets.trashConfirmedAt),
    isNull(secrets.droppedAt),
    lte(secrets.trashConfirmedAt, confirmedBefore),
    lte(secrets.dropWarnedAt, warnedBefore),
  );
  const dropBatch = (accountId: string): Promise<number> =>
    lockedTransaction(db, accountId, async (tx, { vendorId }) => {
      const accountCondition = eq(secrets.accountId, accountId);
      const ids = (
        await tx
          .select({ id: secrets.id })
          .from(secrets)
          .where(and(accountCondition, dueCondition))
          .limit(secretsPerBatch)
      ).map(({ id }) => id);
      if (ids.length === 0) return 0;
      const changeNumber = await incrementChangeCounter(tx, accountId);
      await tx
        .update(secrets)
        .set({ droppedAt: now, changeNumber })
        .where(and(accountCondition, inArray(secrets.id, ids)));
      await adjustStorageUsed(
        tx,
        accountId,
        -(await dropVersions(services, tx, createAccountScope(accountId, vendorId), ids, now)),
      );
      return ids.length;
    });
  return forEachAccount(db, context, { accountId: secrets.accountId, dueCondition }, (accountId) =>
    repeatBatches(context, secretsPerBatch, () => dropBatch(accountId)),
  );
}
