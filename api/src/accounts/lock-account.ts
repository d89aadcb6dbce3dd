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
 * Holds the account's row to the end of the transaction. Every write of an account begins with it,
 * so that writers of one account take turns and those of different accounts never meet.
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
  if (row === undefined) throw new Error("a session without its account");
  return row;
}

/**
 * One transaction that changes what an account has, with the account's row held. It waits its turn
 * among the account's own before it takes a connection (http/account-concurrency.ts).
 */
export function withLockedAccount<T>(
  { db, concurrency }: { readonly db: Db; readonly concurrency: AccountConcurrency },
  accountId: string,
  operation: (tx: Tx, account: AccountRow) => Promise<T>,
): Promise<T> {
  return concurrency.runExclusive(accountId, () =>
    db.transaction(async (tx) => operation(tx, await lockAccount(tx, accountId))),
  );
}
