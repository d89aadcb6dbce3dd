import { eq, sql, type SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

import { buildActivityInsert, type TimedActivityEvent } from "../activity/record-activity.ts";
import type { Tx } from "../db/database.ts";
import { accounts } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import type { VendorSettings } from "../vendors/vendors.ts";
import type { AccountRow } from "./lock-account.ts";

/**
 * Bytes by which some writes may exceed the quota: changes of the keyring, labels and tickets, and
 * the finish of an upload, whose content is charged already. Without this reserve, a full account
 * could not remove anything.
 */
export const quotaReserveBytes = 64 * 1024 ** 2;

/**
 * Adds to the account's used storage; a negative delta is never refused.
 *
 * @throws Problem `quota_exceeded`; the transaction must be rolled back.
 */
export async function chargeStorage(
  tx: Tx,
  vendor: VendorSettings,
  account: AccountRow,
  deltaBytes: number,
  reserveBytes = 0,
  event?: TimedActivityEvent,
): Promise<void> {
  const usedBytes = await adjustStorageUsed(tx, account.id, deltaBytes, event);
  if (deltaBytes > 0 && usedBytes > vendor.quotaBytes + reserveBytes) throw new Problem("quota_exceeded");
}

/** Adds `deltaBytes` to the account's used storage. @returns the new total */
export async function adjustStorageUsed(
  tx: Tx,
  accountId: string,
  deltaBytes: number,
  event?: TimedActivityEvent,
): Promise<number> {
  const [row] = await (event === undefined ? tx : tx.with(buildActivityInsert(tx, accountId, event)))
    .update(accounts)
    .set({ storageUsed: sql`${accounts.storageUsed} + ${deltaBytes}` })
    .where(eq(accounts.id, accountId))
    .returning({ storageUsed: accounts.storageUsed });
  if (row === undefined) throw new Error("the session's account does not exist");
  return row.storageUsed;
}

/** Length in bytes of a text or `bytea` column, 0 for null; does not read the value. */
export function octetLength(column: PgColumn): SQL<number> {
  return sql<number>`coalesce(octet_length(${column}), 0)`;
}
