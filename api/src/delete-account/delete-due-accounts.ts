import { and, eq, gt, inArray, is, isNotNull, lte, sql } from "drizzle-orm";
import { getTableConfig, PgTable, type PgColumn } from "drizzle-orm/pg-core";

import { lockAccount } from "../accounts/lock-account.ts";
import type { Db, Tx } from "../db/database.ts";
import type { Services } from "../services/services.ts";
import * as schema from "../db/schema.ts";
import { releaseUserName } from "../accounts/user-names.ts";
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
import { orphanObjects } from "../objects/orphaned-objects.ts";
import { forEachItem, type SweepContext } from "../resource/sweep-context.ts";

/*
 * [Note: Deleting an account] Step by step, each a transaction, so that a killed process leaves an
 * account that is still due:
 *
 * 1. The account is closed, its sessions end, its identity leads nowhere any more: whoever signs in
 *    again begins anew. From here on nobody can call it off.
 * 2. What others were given of it leaves their lists; its public ids go, and its shares and
 *    requests with them.
 * 3. Its rows go, table by table. Objects that they refer to become orphaned with them
 *    ([Note: Objects and rows]).
 * 4. Last, with what calls that were under way may have left, the account's own row. Orphaned
 *    objects go by themselves.
 */

const rowsPerBatch = 1_000;

interface AccountTable {
  readonly table: PgTable;
  readonly accountId: PgColumn;
  /** Of its primary key; empty where that is the account alone. */
  readonly keyColumns: readonly PgColumn[];
  /** What its rows refer to. */
  readonly objectKey: PgColumn | undefined;
}

/**
 * Every table of the schema whose rows are an account's. Orphaned objects stay until they are
 * collected.
 */
export const accountTables: readonly AccountTable[] = Object.values(schema).flatMap((table) => {
  if (!is(table, PgTable) || table === schema.orphanedObjects) return [];
  const { columns, primaryKeys } = getTableConfig(table);
  const primaryKeyColumns = primaryKeys.flatMap((primary) => primary.columns);
  const accountIdColumn =
    primaryKeyColumns.length === 0 ? columns.find(({ primary }) => primary) : primaryKeyColumns[0];
  return accountIdColumn?.name === "account_id"
    ? [
        {
          table,
          accountId: accountIdColumn,
          keyColumns: primaryKeyColumns,
          objectKey: columns.find(({ name }) => name === "object_key"),
        },
      ]
    : [];
});

/** Accounts whose time of grace is over. */
export function deleteDueAccounts({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const isDue = and(isNotNull(accounts.deletionDueAt), lte(accounts.deletionDueAt, context.now));
  return forEachItem<{ id: string }>(
    context,
    (last, pageSize) =>
      db
        .select({ id: accounts.id })
        .from(accounts)
        .where(last === null ? isDue : and(isDue, gt(accounts.id, last.id)))
        .orderBy(accounts.id)
        .limit(pageSize),
    async ({ id }) => {
      if (!(await closeAccount(db, id, context.now))) return;
      await removeFromRecipientLists(db, id);
      await repeatUntilBatchNotFull(context, () => deletePublicIdBatch(db, id));
      for (const table of accountTables)
        await repeatUntilBatchNotFull(context, () =>
          db.transaction((tx) => deleteRowBatch(tx, table, id, context.now)),
        );
      if (!context.signal.aborted) await db.transaction((tx) => deleteAccountRow(tx, id, context.now));
    },
  );
}

/** @returns false when it was called off meanwhile. */
function closeAccount(db: Db, accountId: string, now: Date): Promise<boolean> {
  return db.transaction(async (tx) => {
    await lockAccount(tx, accountId);
    const [account] = await tx.select().from(accounts).where(eq(accounts.id, accountId));
    if (account?.deletionDueAt == null || account.deletionDueAt > now) return false;
    await tx
      .update(accounts)
      .set({ lockedAt: account.lockedAt ?? now })
      .where(eq(accounts.id, accountId));
    await tx.update(sessions).set({ revokedAt: new Date() }).where(eq(sessions.accountId, accountId));
    await tx.delete(identities).where(eq(identities.accountId, accountId));
    const [userNameRow] = await tx
      .select()
      .from(userNames)
      .where(and(eq(userNames.accountId, accountId), sql`${userNames.releasedAt} is null`));
    if (userNameRow !== undefined)
      await releaseUserName(tx, { vendorId: account.vendorId, name: account.userName }, now);
    return true;
  });
}

/** What it shared with others is in their lists, each with its own account. */
async function removeFromRecipientLists(db: Db, accountId: string): Promise<void> {
  const recipientIdsQuery = db
    .selectDistinct({ recipientId: shares.recipientId })
    .from(shares)
    .where(and(eq(shares.accountId, accountId), isNotNull(shares.recipientId)));
  const visitorIdsQuery = db
    .selectDistinct({ recipientId: shareClaims.openedBy })
    .from(shareClaims)
    .where(and(eq(shareClaims.accountId, accountId), isNotNull(shareClaims.openedBy)));
  for (const { recipientId } of [...(await recipientIdsQuery), ...(await visitorIdsQuery)]) {
    if (recipientId !== null)
      await db
        .delete(shareRecipients)
        .where(and(eq(shareRecipients.accountId, recipientId), eq(shareRecipients.ownerId, accountId)));
  }
}

async function deletePublicIdBatch(db: Db, accountId: string): Promise<number> {
  const batch = db
    .select({ publicId: publicIds.publicId })
    .from(publicIds)
    .where(eq(publicIds.accountId, accountId))
    .limit(rowsPerBatch);
  return (await db.delete(publicIds).where(inArray(publicIds.publicId, batch))).rowCount ?? 0;
}

/** Rows of one table, and what they refer to becomes orphaned. @returns how many went. */
async function deleteRowBatch(
  tx: Tx,
  { table, accountId, keyColumns, objectKey }: AccountTable,
  dueAccountId: string,
  now: Date,
): Promise<number> {
  const belongsToAccount = eq(accountId, dueAccountId);
  const columns = sql.join([...keyColumns], sql`, `);
  const deleted = await tx
    .delete(table)
    .where(
      keyColumns.length === 0
        ? belongsToAccount
        : and(
            belongsToAccount,
            sql`(${columns}) in (select ${columns} from ${table} where ${belongsToAccount} limit ${rowsPerBatch})`,
          ),
    )
    .returning({ objectKey: sql<string | null>`${objectKey ?? sql`null`}` });
  await orphanObjects(
    tx,
    dueAccountId,
    deleted.flatMap((row) => row.objectKey ?? []),
    now,
  );
  return deleted.length;
}

async function deleteAccountRow(tx: Tx, accountId: string, now: Date): Promise<void> {
  await lockAccount(tx, accountId);
  for (const table of accountTables) while ((await deleteRowBatch(tx, table, accountId, now)) === rowsPerBatch);
  await tx.delete(accounts).where(eq(accounts.id, accountId));
}

async function repeatUntilBatchNotFull({ signal }: SweepContext, deleteBatch: () => Promise<number>): Promise<void> {
  while ((await deleteBatch()) === rowsPerBatch && !signal.aborted);
}
