import type { TimedActivityEvent } from "../activity/record-activity.ts";
import type { Tx } from "../db/database.ts";
import { Problem } from "../http/problem.ts";
import type { AccountRow } from "../keyring/queries.ts";
import type { VendorSettings } from "../vendors/vendors.ts";
import type { SecretsScope } from "./policy.ts";
import { adjustStorageUsed, countSecrets } from "./queries.ts";

/** Rows of one account; far above what one person keeps, and within what one device lists. */
const maxSecrets = 50_000;

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
 * What can be refused before anything is written.
 *
 * @param sizes of the contents, in bytes
 * @param newSecrets secrets that are new
 * @throws Problem `quota_exceeded`, `payload_too_large` for a content that the vendor never takes.
 */
export async function rejectOverQuota(
  tx: Tx,
  vendor: VendorSettings,
  scope: SecretsScope,
  account: AccountRow,
  sizes: readonly number[],
  newSecrets: number,
): Promise<void> {
  if (sizes.some((size) => size > vendor.contentBytes))
    throw new Problem("payload_too_large", { members: { limit: vendor.contentBytes } });
  if (sizes.reduce((sum, size) => sum + size, account.storageUsed) > vendor.quotaBytes)
    throw new Problem("quota_exceeded");
  if (newSecrets > 0 && (await countSecrets(tx, scope)) + newSecrets > maxSecrets) throw new Problem("quota_exceeded");
}
