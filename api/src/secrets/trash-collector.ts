import { and, eq, isNotNull, isNull, lte } from "drizzle-orm";

import type { Db } from "../db/database.ts";
import { secrets } from "../db/schema.ts";
import { lockAccount } from "../keyring/queries.ts";
import type { Mailer } from "../mail/mailer.ts";
import { addStorage, dropVersions, nextChange } from "./queries.ts";
import { dropBefore, warnBefore } from "./trash-times.ts";

/** Says by mail what will be dropped in 7 days, once for each account. @returns how many secrets were warned of. */
export async function warnOfDropping(db: Db, mailer: Mailer, now: Date): Promise<number> {
  const due = and(isNotNull(secrets.deletedAt), isNull(secrets.droppedAt), isNull(secrets.dropWarnedAt), lte(secrets.deletedAt, warnBefore(now)));
  return forEachAccount(db, due, (accountId) =>
    db.transaction(async (tx) => {
      await lockAccount(tx, accountId);
      const warned = await tx
        .update(secrets)
        .set({ dropWarnedAt: now })
        .where(and(eq(secrets.accountId, accountId), due))
        .returning({ id: secrets.id });
      if (warned.length > 0) await mailer.queue(tx, accountId, "drop_warning", { now });
      return warned.length;
    }),
  );
}

/** Contents and tickets of what was warned of and has been in the trash for 30 days. The row stays until the person purges it. */
export async function dropTrashed(db: Db, now: Date): Promise<number> {
  const { deleted, warned } = dropBefore(now);
  const due = and(isNotNull(secrets.deletedAt), isNull(secrets.droppedAt), lte(secrets.deletedAt, deleted), lte(secrets.dropWarnedAt, warned));
  return forEachAccount(db, due, (accountId) =>
    db.transaction(async (tx) => {
      const { vendorId } = await lockAccount(tx, accountId);
      const change = await nextChange(tx, accountId);
      const dropped = await tx
        .update(secrets)
        .set({ droppedAt: now, change })
        .where(and(eq(secrets.accountId, accountId), due))
        .returning({ id: secrets.id });
      const freed = await dropVersions(
        tx,
        { accountId, vendorId },
        dropped.map(({ id }) => id),
        now,
      );
      await addStorage(tx, accountId, -freed);
      return dropped.length;
    }),
  );
}

async function forEachAccount(db: Db, due: ReturnType<typeof and>, work: (accountId: string) => Promise<number>): Promise<number> {
  const found = await db.selectDistinct({ accountId: secrets.accountId }).from(secrets).where(due);
  let count = 0;
  for (const { accountId } of found) count += await work(accountId);
  return count;
}
