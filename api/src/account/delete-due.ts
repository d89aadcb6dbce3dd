import { and, eq, gt, inArray, is, isNotNull, lte, sql } from "drizzle-orm";
import { getTableConfig, PgTable, type PgColumn } from "drizzle-orm/pg-core";

import type { Db, Tx } from "../db/database.ts";
import * as schema from "../db/schema.ts";
import {
  accounts,
  identities,
  publicIds,
  sessions,
  shareClaims,
  shareRecipients,
  shares,
  userNames,
} from "../db/schema.ts";
import { lockAccount } from "../keyring/queries.ts";
import { discard } from "../objects/loose.ts";
import { forEachItem, type Sweeping } from "../operations/sweeping.ts";
import { releaseUserName } from "../users/user-name.ts";

/*
 * [Note: Deleting an account] Step by step, each a transaction, so that a killed process leaves an
 * account that is still due:
 *
 * 1. The account is closed, its sessions end, its identity leads nowhere any more: whoever signs in
 *    again begins anew. From here on nobody can call it off.
 * 2. What others were given of it leaves their lists; its public ids go, and its shares and
 *    requests with them.
 * 3. Its rows go, table by table. Objects that they refer to become loose with them ([Note: Objects
 *    and rows]).
 * 4. Last, with what calls that were under way may have left, the account's own row. Loose objects
 *    go by themselves.
 */

const rowsAtOnce = 1_000;

interface TableOfAccounts {
  readonly table: PgTable;
  readonly accountId: PgColumn;
  /** Of its primary key; empty where that is the account alone. */
  readonly key: readonly PgColumn[];
  /** What its rows refer to. */
  readonly objectKey: PgColumn | undefined;
}

/**
 * Every table of the schema whose rows are an account's. Loose objects stay until they are
 * collected.
 */
export const tablesOfAccounts: readonly TableOfAccounts[] = Object.values(schema).flatMap((table) => {
  if (!is(table, PgTable) || table === schema.looseObjects) return [];
  const { columns, primaryKeys } = getTableConfig(table);
  const key = primaryKeys.flatMap((primary) => primary.columns);
  const accountId = key.length === 0 ? columns.find(({ primary }) => primary) : key[0];
  return accountId?.name === "account_id"
    ? [{ table, accountId, key, objectKey: columns.find(({ name }) => name === "object_key") }]
    : [];
});

/** Accounts whose time of grace is over. */
export function deleteDueAccounts(db: Db, sweeping: Sweeping): Promise<void> {
  const due = and(isNotNull(accounts.deletionDueAt), lte(accounts.deletionDueAt, sweeping.now));
  return forEachItem<{ id: string }>(
    sweeping,
    (last, length) =>
      db
        .select({ id: accounts.id })
        .from(accounts)
        .where(last === null ? due : and(due, gt(accounts.id, last.id)))
        .orderBy(accounts.id)
        .limit(length),
    async ({ id }) => {
      if (!(await closeAccount(db, id, sweeping.now))) return;
      await leaveLists(db, id);
      await whileRows(sweeping, () => dropPublicIds(db, id));
      for (const table of tablesOfAccounts)
        await whileRows(sweeping, () => db.transaction((tx) => dropSome(tx, table, id, sweeping.now)));
      if (!sweeping.signal.aborted) await db.transaction((tx) => dropLast(tx, id, sweeping.now));
    },
  );
}

/** @returns false when it was called off meanwhile. */
function closeAccount(db: Db, id: string, now: Date): Promise<boolean> {
  return db.transaction(async (tx) => {
    await lockAccount(tx, id);
    const [account] = await tx.select().from(accounts).where(eq(accounts.id, id));
    if (account?.deletionDueAt == null || account.deletionDueAt > now) return false;
    await tx
      .update(accounts)
      .set({ lockedAt: account.lockedAt ?? now })
      .where(eq(accounts.id, id));
    await tx.update(sessions).set({ revokedAt: new Date() }).where(eq(sessions.accountId, id));
    await tx.delete(identities).where(eq(identities.accountId, id));
    const [name] = await tx
      .select()
      .from(userNames)
      .where(and(eq(userNames.accountId, id), sql`${userNames.releasedAt} is null`));
    if (name !== undefined) await releaseUserName(tx, { vendorId: account.vendorId, name: account.userName }, now);
    return true;
  });
}

/** What it shared with others is in their lists, each with its own account. */
async function leaveLists(db: Db, id: string): Promise<void> {
  const given = db
    .selectDistinct({ who: shares.recipientId })
    .from(shares)
    .where(and(eq(shares.accountId, id), isNotNull(shares.recipientId)));
  const opened = db
    .selectDistinct({ who: shareClaims.openedBy })
    .from(shareClaims)
    .where(and(eq(shareClaims.accountId, id), isNotNull(shareClaims.openedBy)));
  for (const { who } of [...(await given), ...(await opened)]) {
    if (who !== null)
      await db.delete(shareRecipients).where(and(eq(shareRecipients.accountId, who), eq(shareRecipients.ownerId, id)));
  }
}

async function dropPublicIds(db: Db, id: string): Promise<number> {
  const some = db
    .select({ publicId: publicIds.publicId })
    .from(publicIds)
    .where(eq(publicIds.accountId, id))
    .limit(rowsAtOnce);
  return (await db.delete(publicIds).where(inArray(publicIds.publicId, some))).rowCount ?? 0;
}

/** Rows of one table, and what they refer to becomes loose. @returns how many went. */
async function dropSome(
  tx: Tx,
  { table, accountId, key, objectKey }: TableOfAccounts,
  id: string,
  now: Date,
): Promise<number> {
  const mine = eq(accountId, id);
  const columns = sql.join([...key], sql`, `);
  const gone = await tx
    .delete(table)
    .where(
      key.length === 0
        ? mine
        : and(mine, sql`(${columns}) in (select ${columns} from ${table} where ${mine} limit ${rowsAtOnce})`),
    )
    .returning({ objectKey: sql<string | null>`${objectKey ?? sql`null`}` });
  await discard(
    tx,
    id,
    gone.flatMap((row) => row.objectKey ?? []),
    now,
  );
  return gone.length;
}

async function dropLast(tx: Tx, id: string, now: Date): Promise<void> {
  await lockAccount(tx, id);
  for (const table of tablesOfAccounts) while ((await dropSome(tx, table, id, now)) === rowsAtOnce);
  await tx.delete(accounts).where(eq(accounts.id, id));
}

async function whileRows({ signal }: Sweeping, drop: () => Promise<number>): Promise<void> {
  while ((await drop()) === rowsAtOnce && !signal.aborted);
}
