import { and, eq, sql, type ColumnBaseConfig, type SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

import type { Db } from "../db/database.ts";

/** Passed to each step of a sweep, so that no step or item stops the others. */
export interface SweepContext {
  readonly now: Date;
  /** Aborted when the process stops or its lock is lost: the rest is due at the next sweep. */
  readonly signal: AbortSignal;
  /**
   * Runs one item; a failure is counted and logged, and the item stays due. @returns whether it
   * succeeded
   */
  readonly attempt: (item: () => Promise<unknown>) => Promise<boolean>;
}

const pageSize = 100;
const rowsPerBatch = 1_000;

type KeyColumn = PgColumn<ColumnBaseConfig<"string", string> & { readonly data: string; readonly notNull: true }>;

/**
 * Runs `handleRow` for due rows, paged by key, each once: failed ones are skipped.
 *
 * @param key columns of a unique key
 */
export async function forEachDue<K extends string>(
  db: Db,
  context: SweepContext,
  key: Readonly<Record<K, KeyColumn>>,
  dueCondition: SQL | undefined,
  handleRow: (row: Readonly<Record<K, string>>) => Promise<unknown>,
): Promise<void> {
  const columns = Object.values<KeyColumn>(key);
  const [firstColumn] = columns as [KeyColumn];
  for (let lastRow: Readonly<Record<K, string>> | undefined; ;) {
    const values = lastRow === undefined ? [] : Object.values<string>(lastRow).map((value) => sql`${value}`);
    const afterLastCondition =
      lastRow === undefined ? undefined : sql`(${sql.join(columns, sql`, `)}) > (${sql.join(values, sql`, `)})`;
    const rows = (await db
      .selectDistinct(key as Readonly<Record<string, KeyColumn>>)
      .from(firstColumn.table)
      .where(and(dueCondition, afterLastCondition))
      .orderBy(...columns)
      .limit(pageSize)) as Readonly<Record<K, string>>[];
    for (const row of rows) {
      if (context.signal.aborted) return;
      await context.attempt(() => handleRow(row));
    }
    if (rows.length < pageSize) return;
    lastRow = rows.at(-1);
  }
}

/** Runs `handleAccount` for accounts with due rows in this table. */
export function forEachAccount(
  db: Db,
  context: SweepContext,
  { accountId, dueCondition }: { readonly accountId: KeyColumn; readonly dueCondition: SQL | undefined },
  handleAccount: (accountId: string) => Promise<unknown>,
): Promise<void> {
  return forEachDue(db, context, { accountId }, dueCondition, (row) => handleAccount(row.accountId));
}

/** Deletes due rows, account by account. @param key of the table, the account's id first */
export function deleteDueRows(
  db: Db,
  context: SweepContext,
  [accountId, ...key]: readonly [KeyColumn, ...PgColumn[]],
  dueCondition: SQL,
): Promise<void> {
  const { table } = accountId;
  const columns = sql.join(key, sql`, `);
  return forEachAccount(db, context, { accountId, dueCondition }, (dueAccountId) =>
    deleteInBatches(context, (batchSize) => {
      const dueInAccountCondition = and(eq(accountId, dueAccountId), dueCondition);
      const batch = sql`select ${columns} from ${table} where ${dueInAccountCondition} limit ${batchSize}`;
      return db.delete(table).where(and(dueInAccountCondition, sql`(${columns}) in (${batch})`));
    }),
  );
}

/** Deletes rows in batches that finish well within the statement timeout. */
export function deleteInBatches(
  context: SweepContext,
  deleteBatch: (batchSize: number) => PromiseLike<{ readonly rowCount: number | null }>,
): Promise<void> {
  return repeatBatches(context, rowsPerBatch, async () => (await deleteBatch(rowsPerBatch)).rowCount ?? 0);
}

/** Repeats until a batch is not full. @param runBatch returns its number of rows */
export async function repeatBatches(
  { signal }: SweepContext,
  batchSize: number,
  runBatch: () => Promise<number>,
): Promise<void> {
  while ((await runBatch()) === batchSize && !signal.aborted);
}
