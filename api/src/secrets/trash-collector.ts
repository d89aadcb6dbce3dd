import { and, eq, inArray, isNotNull, isNull, lte } from "drizzle-orm";

import type { Db } from "../db/database.ts";
import { secrets } from "../db/schema.ts";
import { lockAccount } from "../keyring/queries.ts";
import type { Mailer } from "../mail/mailer.ts";
import { forEachAccount, type Sweeping } from "../operations/sweeping.ts";
import { addStorage, dropVersions, nextChange } from "./queries.ts";
import { dropBefore, warnBefore } from "./trash-times.ts";

/** In one transaction: each can have fifty versions of a thousand objects. */
const secretsAtOnce = 20;

/** Says by mail what will be dropped in 7 days, once for each account. */
export function warnOfDropping(db: Db, mailer: Mailer, sweeping: Sweeping): Promise<void> {
  const { now } = sweeping;
  const due = and(
    isNotNull(secrets.deletedAt),
    isNull(secrets.droppedAt),
    isNull(secrets.dropWarnedAt),
    lte(secrets.deletedAt, warnBefore(now)),
  );
  return forEachAccount(db, sweeping, { accountId: secrets.accountId, due }, (accountId) =>
    db.transaction(async (tx) => {
      await lockAccount(tx, accountId);
      const warned = await tx
        .update(secrets)
        .set({ dropWarnedAt: now })
        .where(and(eq(secrets.accountId, accountId), due))
        .returning({ id: secrets.id });
      if (warned.length > 0) await mailer.queue(tx, accountId, "drop_warning", { now });
    }),
  );
}

/**
 * Contents and tickets of what was warned of and has been in the trash for 30 days. The row stays
 * until the person purges it.
 */
export function dropTrashed(db: Db, sweeping: Sweeping): Promise<void> {
  const { now } = sweeping;
  const { deleted, warned } = dropBefore(now);
  const due = and(
    isNotNull(secrets.deletedAt),
    isNull(secrets.droppedAt),
    lte(secrets.deletedAt, deleted),
    lte(secrets.dropWarnedAt, warned),
  );
  const dropSome = (accountId: string): Promise<number> =>
    db.transaction(async (tx) => {
      const { vendorId } = await lockAccount(tx, accountId);
      const own = eq(secrets.accountId, accountId);
      const ids = (await tx.select({ id: secrets.id }).from(secrets).where(and(own, due)).limit(secretsAtOnce)).map(
        ({ id }) => id,
      );
      if (ids.length === 0) return 0;
      const change = await nextChange(tx, accountId);
      await tx
        .update(secrets)
        .set({ droppedAt: now, change })
        .where(and(own, inArray(secrets.id, ids)));
      await addStorage(tx, accountId, -(await dropVersions(tx, { accountId, vendorId }, ids, now)));
      return ids.length;
    });
  return forEachAccount(db, sweeping, { accountId: secrets.accountId, due }, async (accountId) => {
    while ((await dropSome(accountId)) === secretsAtOnce && !sweeping.signal.aborted);
  });
}
