import type { AccountRow } from "../accounts/lock-account.ts";
import type { AccountScope } from "../auth/actor.ts";
import type { Tx } from "../db/database.ts";
import { Problem } from "../http/problem.ts";
import type { VendorSettings } from "../vendors/vendors.ts";
import { countSecrets } from "./queries.ts";

/** Rows of one account; far above what one person keeps, and within what one device lists. */
const maxSecrets = 50_000;

/**
 * What can be refused before anything is written.
 *
 * @param sizes of the contents, in bytes
 * @param newSecretCount secrets that are new
 * @throws Problem `quota_exceeded`, `payload_too_large` for a content that the vendor never takes.
 */
export async function rejectOverQuota(
  tx: Tx,
  vendor: VendorSettings,
  scope: AccountScope,
  account: AccountRow,
  sizes: readonly number[],
  newSecretCount: number,
): Promise<void> {
  if (sizes.some((size) => size > vendor.contentBytes))
    throw new Problem("payload_too_large", { members: { limit: vendor.contentBytes } });
  if (sizes.reduce((sum, size) => sum + size, account.storageUsed) > vendor.quotaBytes)
    throw new Problem("quota_exceeded");
  if (newSecretCount > 0 && (await countSecrets(tx, scope)) + newSecretCount > maxSecrets)
    throw new Problem("quota_exceeded");
}
