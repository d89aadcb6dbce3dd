import { and, gt, type SQL } from "drizzle-orm";

import type { Db } from "../db/database.ts";
import type {
  activity,
  deviceLinks,
  emailValidations,
  feedback,
  keyringFormer,
  looseObjects,
  secrets,
  secretsSetAside,
  shareClaims,
  shareReports,
  shares,
  stages,
  startAnews,
} from "../db/schema.ts";

/**
 * What the steps of a sweep are given, so that none of them, and nothing of theirs, holds up the
 * others.
 */
export interface Sweeping {
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

const pageLength = 100;
const rowsAtOnce = 1_000;

/**
 * Items by pages in the order of a key, each once: what fails is passed over. `page` reads those
 * that come after `last`.
 */
export async function forEachItem<T>(
  sweeping: Sweeping,
  page: (last: T | null, length: number) => Promise<readonly T[]>,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  for (let last: T | null = null; ;) {
    const items: readonly T[] = await page(last, pageLength);
    for (const item of items) {
      if (sweeping.signal.aborted) return;
      await sweeping.attempt(() => work(item));
    }
    last = items.at(-1) ?? null;
    if (items.length < pageLength) return;
  }
}

type TableOfAccounts =
  | typeof activity
  | typeof deviceLinks
  | typeof emailValidations
  | typeof feedback
  | typeof keyringFormer
  | typeof looseObjects
  | typeof secrets
  | typeof secretsSetAside
  | typeof shareClaims
  | typeof shareReports
  | typeof shares
  | typeof stages
  | typeof startAnews;

/**
 * Accounts that have rows of this table that are due: what is done about them is done at each
 * account.
 */
export function forEachAccount(
  db: Db,
  sweeping: Sweeping,
  { accountId, due }: { readonly accountId: TableOfAccounts["accountId"]; readonly due: SQL | undefined },
  work: (accountId: string) => Promise<unknown>,
): Promise<void> {
  return forEachItem<{ accountId: string }>(
    sweeping,
    (last, length) =>
      db
        .selectDistinct({ accountId })
        .from(accountId.table)
        .where(and(due, last === null ? undefined : gt(accountId, last.accountId)))
        .orderBy(accountId)
        .limit(length),
    (found) => work(found.accountId),
  );
}

/** Deletes what is due, so many rows in each statement that it ends long before its time does. */
export async function deleteInBatches(
  { signal }: Sweeping,
  batch: (rows: number) => PromiseLike<{ readonly rowCount: number | null }>,
): Promise<void> {
  for (let gone = rowsAtOnce; gone === rowsAtOnce && !signal.aborted;) gone = (await batch(rowsAtOnce)).rowCount ?? 0;
}
