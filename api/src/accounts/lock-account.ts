import { eq } from "drizzle-orm";

import type { Db, Tx } from "../db/database.ts";
import { accounts } from "../db/schema.ts";
import type { AccountConcurrency } from "../http/account-concurrency.ts";

export interface AccountRow {
  readonly id: string;
  readonly vendorId: string;
  readonly storageUsed: number;
  readonly trashMailAt: Date | null;
}

/**
 * Locks the account's row until the transaction ends. Every write of an account begins with it, so
 * that its writers run one after another.
 */
export async function lockAccount(tx: Tx, accountId: string): Promise<AccountRow> {
  const [row] = await tx
    .select({
      id: accounts.id,
      vendorId: accounts.vendorId,
      storageUsed: accounts.storageUsed,
      trashMailAt: accounts.trashMailAt,
    })
    .from(accounts)
    .where(eq(accounts.id, accountId))
    .for("update");
  if (row === undefined) throw new Error("the session's account does not exist");
  return row;
}

/**
 * Runs a transaction with the account's row locked. Queues behind the account's other writes in
 * this process before it takes a database connection (http/account-concurrency.ts).
 */
export function withLockedAccount<T>(
  { db, concurrency }: { readonly db: Db; readonly concurrency: AccountConcurrency },
  accountId: string,
  operation: (tx: Tx, account: AccountRow) => Promise<T>,
): Promise<T> {
  return concurrency.runWriteExclusive(accountId, () => lockedTransaction(db, accountId, operation));
}

/** {@link withLockedAccount} without the queue of this process: for sweeps and commands. */
export function lockedTransaction<T>(
  db: Db,
  accountId: string,
  operation: (tx: Tx, account: AccountRow) => Promise<T>,
): Promise<T> {
  return db.transaction(async (tx) => operation(tx, await lockAccount(tx, accountId)));
}
