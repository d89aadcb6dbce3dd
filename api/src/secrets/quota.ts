import type { Happened } from "../activity/note.ts";
import type { Tx } from "../db/database.ts";
import { Problem } from "../http/problem.ts";
import type { AccountRow } from "../keyring/queries.ts";
import type { KnownVendor } from "../vendors/vendors.ts";
import type { OwnSecrets } from "./policy.ts";
import { addStorage, countSecrets } from "./queries.ts";

/** Rows of one account; far above what one person keeps, and within what one device lists. */
const maxSecrets = 50_000;

/**
 * Beyond the quota, for what orders a full account: changes of the keyring, of labels and tickets,
 * and the end of an upload, whose content took its place before. Without it nobody could remove
 * something. In bytes.
 */
export const reserveBytes = 64 * 1024 ** 2;

/**
 * Counts what a call keeps more than before, or fewer than none. What frees room is never refused.
 *
 * @throws Problem `quota_exceeded`; the transaction must not go on.
 */
export async function countStored(
  tx: Tx,
  vendor: KnownVendor,
  account: AccountRow,
  bytes: number,
  reserve = 0,
  happened?: Happened,
): Promise<void> {
  const used = await addStorage(tx, account.id, bytes, happened);
  if (bytes > 0 && used > vendor.quotaBytes + reserve) throw new Problem("quota_exceeded");
}

/**
 * What can be refused before anything is written.
 *
 * @param sizes of the contents, in bytes
 * @param added secrets that are new
 * @throws Problem `quota_exceeded`, `payload_too_large` for a content that the vendor never takes.
 */
export async function refuseExcess(
  tx: Tx,
  vendor: KnownVendor,
  own: OwnSecrets,
  account: AccountRow,
  sizes: readonly number[],
  added: number,
): Promise<void> {
  if (sizes.some((size) => size > vendor.contentBytes))
    throw new Problem("payload_too_large", { members: { limit: vendor.contentBytes } });
  if (sizes.reduce((sum, size) => sum + size, account.storageUsed) > vendor.quotaBytes)
    throw new Problem("quota_exceeded");
  if (added > 0 && (await countSecrets(tx, own)) + added > maxSecrets) throw new Problem("quota_exceeded");
}
