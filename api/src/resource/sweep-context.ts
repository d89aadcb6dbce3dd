import { and, gt, type ColumnBaseConfig, type SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

import type { Db } from "../db/database.ts";

/**
 * What the steps of a sweep are given, so that none of them, and nothing of theirs, holds up the
 * others.
 */
export interface SweepContext {
  readonly now: Date;
  /**
   * Aborted when the process stops, or when another one may have begun to sweep: the rest is due
   * the next time.
   */
  readonly signal: AbortSignal;
  /**
   * Does one item. When it fails, that is counted and logged, it stays due, and the next one is
   * done. @returns whether it was done.
   */
  readonly attempt: (item: () => Promise<unknown>) => Promise<boolean>;
}

const defaultPageSize = 100;
const rowsPerBatch = 1_000;

/**
 * Items by pages in the order of a key, each once: what fails is passed over. `readPage` reads
 * those that come after `last`.
 */
export async function forEachItem<T>(
  context: SweepContext,
  readPage: (last: T | null, pageSize: number) => Promise<readonly T[]>,
  handleItem: (item: T) => Promise<unknown>,
): Promise<void> {
  for (let last: T | null = null; ;) {
    const items: readonly T[] = await readPage(last, defaultPageSize);
    for (const item of items) {
      if (context.signal.aborted) return;
      await context.attempt(() => handleItem(item));
    }
    last = items.at(-1) ?? null;
    if (items.length < defaultPageSize) return;
  }
}

/** The column of a table that says whose a row is. */
type AccountColumn = PgColumn<ColumnBaseConfig<"string", string> & { readonly data: string; readonly notNull: true }>;

/**
 * Accounts that have rows of this table that are due: what is done about them is done at each
 * account.
 */
export function forEachAccount(
  db: Db,
  context: SweepContext,
  { accountId, due: isDue }: { readonly accountId: AccountColumn; readonly due: SQL | undefined },
  handleAccount: (accountId: string) => Promise<unknown>,
): Promise<void> {
  return forEachItem<{ accountId: string }>(
    context,
    (last, pageSize) =>
      db
        .selectDistinct({ accountId })
        .from(accountId.table)
        .where(and(isDue, last === null ? undefined : gt(accountId, last.accountId)))
        .orderBy(accountId)
        .limit(pageSize),
    (item) => handleAccount(item.accountId),
  );
}

/** Deletes what is due, so many rows in each statement that it ends long before its time does. */
export async function deleteInBatches(
  { signal }: SweepContext,
  deleteBatch: (batchSize: number) => PromiseLike<{ readonly rowCount: number | null }>,
): Promise<void> {
  for (let deletedCount = rowsPerBatch; deletedCount === rowsPerBatch && !signal.aborted;)
    deletedCount = (await deleteBatch(rowsPerBatch)).rowCount ?? 0;
}
