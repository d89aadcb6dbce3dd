import { and, eq, inArray, isNotNull, isNull, lte } from "drizzle-orm";

import { lockAccount } from "../accounts/lock-account.ts";
import { incrementChangeCounter } from "../accounts/next-change.ts";
import { adjustStorageUsed } from "../accounts/storage-used.ts";
import { grantAccount } from "../auth/actor.ts";
import { secrets } from "../db/schema.ts";
import { forEachAccount, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";
import { dropVersions } from "./queries.ts";
import { getDropCutoffs, getWarningCutoff } from "./trash-times.ts";

/** In one transaction: each can have fifty versions of a thousand objects. */
const secretsPerBatch = 20;

/** Says by mail what will be dropped in 7 days, once for each account. */
export function warnBeforeDropping(
  { db, mailer }: Pick<Services, "db" | "mailer">,
  context: SweepContext,
): Promise<void> {
  const { now } = context;
  const isDue = and(
    isNotNull(secrets.deletedAt),
    isNull(secrets.droppedAt),
    isNull(secrets.dropWarnedAt),
    lte(secrets.deletedAt, getWarningCutoff(now)),
  );
  return forEachAccount(db, context, { accountId: secrets.accountId, due: isDue }, (accountId) =>
    db.transaction(async (tx) => {
      await lockAccount(tx, accountId);
      const warnedRows = await tx
        .update(secrets)
        .set({ dropWarnedAt: now })
        .where(and(eq(secrets.accountId, accountId), isDue))
        .returning({ id: secrets.id });
      if (warnedRows.length > 0) await mailer.queue(tx, accountId, "drop_warning", { now });
    }),
  );
}

/**
 * Contents and tickets of what was warned of and has been in the trash for 30 days. The row stays
 * until the person purges it.
 */
export function dropTrashedContents(
  services: Pick<Services, "db" | "onContentsEnd">,
  context: SweepContext,
): Promise<void> {
  const { db } = services;
  const { now } = context;
  const { deleted, warned } = getDropCutoffs(now);
  const isDue = and(
    isNotNull(secrets.deletedAt),
    isNull(secrets.droppedAt),
    lte(secrets.deletedAt, deleted),
    lte(secrets.dropWarnedAt, warned),
  );
  const dropBatch = (accountId: string): Promise<number> =>
    db.transaction(async (tx) => {
      const { vendorId } = await lockAccount(tx, accountId);
      const belongsToAccount = eq(secrets.accountId, accountId);
      const ids = (
        await tx.select({ id: secrets.id }).from(secrets).where(and(belongsToAccount, isDue)).limit(secretsPerBatch)
      ).map(({ id }) => id);
      if (ids.length === 0) return 0;
      const change = await incrementChangeCounter(tx, accountId);
      await tx
        .update(secrets)
        .set({ droppedAt: now, change })
        .where(and(belongsToAccount, inArray(secrets.id, ids)));
      await adjustStorageUsed(
        tx,
        accountId,
        -(await dropVersions(services, tx, grantAccount(accountId, vendorId), ids, now)),
      );
      return ids.length;
    });
  return forEachAccount(db, context, { accountId: secrets.accountId, due: isDue }, async (accountId) => {
    while ((await dropBatch(accountId)) === secretsPerBatch && !context.signal.aborted);
  });
}
