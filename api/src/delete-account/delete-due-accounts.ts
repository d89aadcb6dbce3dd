import { and, eq, inArray, is, isNotNull, lte, sql } from "drizzle-orm";
import { getTableConfig, PgTable, type PgColumn } from "drizzle-orm/pg-core";

import { lockedTransaction } from "../accounts/lock-account.ts";
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
import { forEachDue, repeatBatches, type SweepContext } from "../resource/sweep-context.ts";

/*
 * [Note: Deleting an account] Each step is a transaction, so that a killed process leaves an
 * account that is still due:
 *
 * 1. The account is locked, its sessions are revoked, its identity is deleted: a new sign-in
 *    creates a new account. The deletion can no longer be cancelled.
 * 2. Shares of the account leave their recipients' lists; its public ids are deleted, which hides
 *    its shares and requests.
 * 3. Its rows are deleted, table by table; their objects become orphaned ([Note: Objects and
 *    rows]).
 * 4. Last, rows that calls under way left behind, and the account's own row. Orphaned objects are
 *    collected later.
 */

const rowsPerBatch = 1_000;

interface AccountTable {
  readonly table: PgTable;
  readonly accountIdColumn: PgColumn;
  /**
   * Columns of the primary key, the account's id first; empty where the key is only the account's
   * id.
   */
  readonly primaryKeyColumns: readonly PgColumn[];
  /** The column with object keys. */
  readonly objectKeyColumn: PgColumn | undefined;
}

/**
 * All tables of the schema that belong to accounts, except orphaned objects, which stay until they
 * are collected.
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
          accountIdColumn,
          primaryKeyColumns,
          objectKeyColumn: columns.find(({ name }) => name === "object_key"),
        },
      ]
    : [];
});

/** Deletes accounts after their grace period. */
export function deleteDueAccounts({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const dueCondition = and(isNotNull(accounts.deletionDueAt), lte(accounts.deletionDueAt, context.now));
  return forEachDue(db, context, { id: accounts.id }, dueCondition, async ({ id }) => {
    if (!(await closeAccount(db, id, context.now))) return;
    await removeFromRecipientLists(db, id);
    await repeatBatches(context, rowsPerBatch, () => deletePublicIdBatch(db, id));
    for (const table of accountTables)
      await repeatBatches(context, rowsPerBatch, () =>
        db.transaction((tx) => deleteRowBatch(tx, table, id, context.now)),
      );
    if (!context.signal.aborted) await lockedTransaction(db, id, (tx) => deleteAccountRow(tx, id, context.now));
  });
}

/** Locks the account. @returns false when the deletion was cancelled meanwhile */
function closeAccount(db: Db, accountId: string, now: Date): Promise<boolean> {
  return lockedTransaction(db, accountId, async (tx) => {
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

/** Deletes entries of the account's shares from the lists of their recipients. */
async function removeFromRecipientLists(db: Db, accountId: string): Promise<void> {
  const recipientIdsQuery = db
    .selectDistinct({ recipientId: shares.recipientId })
    .from(shares)
    .where(and(eq(shares.accountId, accountId), isNotNull(shares.recipientId)));
  const visitorIdsQuery = db
    .selectDistinct({ recipientId: shareClaims.openedByAccountId })
    .from(shareClaims)
    .where(and(eq(shareClaims.accountId, accountId), isNotNull(shareClaims.openedByAccountId)));
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

/** Deletes rows of one table and orphans their objects. @returns how many */
async function deleteRowBatch(
  tx: Tx,
  { table, accountIdColumn, primaryKeyColumns, objectKeyColumn }: AccountTable,
  dueAccountId: string,
  now: Date,
): Promise<number> {
  const accountCondition = eq(accountIdColumn, dueAccountId);
  const columns = sql.join([...primaryKeyColumns], sql`, `);
  const deletedRows = await tx
    .delete(table)
    .where(
      primaryKeyColumns.length === 0
        ? accountCondition
        : and(
            accountCondition,
            sql`(${columns}) in (select ${columns} from ${table} where ${accountCondition} limit ${rowsPerBatch})`,
          ),
    )
    .returning({ objectKey: sql<string | null>`${objectKeyColumn ?? sql`null`}` });
  await orphanObjects(
    tx,
    dueAccountId,
    deletedRows.flatMap((row) => row.objectKey ?? []),
    now,
  );
  return deletedRows.length;
}

async function deleteAccountRow(tx: Tx, accountId: string, now: Date): Promise<void> {
  for (const table of accountTables) while ((await deleteRowBatch(tx, table, accountId, now)) === rowsPerBatch);
  await tx.delete(accounts).where(eq(accounts.id, accountId));
}
