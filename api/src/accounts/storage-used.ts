import { eq, sql, type SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

import { buildActivityInsert, type TimedActivityEvent } from "../activity/record-activity.ts";
import type { Tx } from "../db/database.ts";
import { accounts } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import type { VendorSettings } from "../vendors/vendors.ts";
import type { AccountRow } from "./lock-account.ts";

/**
 * Beyond the quota, for what orders a full account: changes of the keyring, of labels and tickets,
 * and the end of an upload, whose content took its place before. Without it nobody could remove
 * something. In bytes.
 */
export const quotaReserveBytes = 64 * 1024 ** 2;

/**
 * Counts what a call keeps more than before, or fewer than none. What frees room is never refused.
 *
 * @throws Problem `quota_exceeded`; the transaction must not go on.
 */
export async function chargeStorage(
  tx: Tx,
  vendor: VendorSettings,
  account: AccountRow,
  bytes: number,
  reserve = 0,
  event?: TimedActivityEvent,
): Promise<void> {
  const usedBytes = await adjustStorageUsed(tx, account.id, bytes, event);
  if (bytes > 0 && usedBytes > vendor.quotaBytes + reserve) throw new Problem("quota_exceeded");
}

/**
 * Counts bytes that are kept now, or with fewer than none that are not any more. @returns all that
 * the account keeps.
 */
export async function adjustStorageUsed(
  tx: Tx,
  accountId: string,
  bytes: number,
  event?: TimedActivityEvent,
): Promise<number> {
  const [row] = await (event === undefined ? tx : tx.with(buildActivityInsert(tx, accountId, event)))
    .update(accounts)
    .set({ storageUsed: sql`${accounts.storageUsed} + ${bytes}` })
    .where(eq(accounts.id, accountId))
    .returning({ storageUsed: accounts.storageUsed });
  if (row === undefined) throw new Error("a session without its account");
  return row.storageUsed;
}

/** Bytes of a text or of bytes in a row, none for null; read without the value itself. */
export function octetLength(column: PgColumn): SQL<number> {
  return sql<number>`coalesce(octet_length(${column}), 0)`;
}
