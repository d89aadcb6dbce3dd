import type { AccountRow } from "../accounts/lock-account.ts";
import type { AccountScope } from "../auth/actor.ts";
import type { Tx } from "../db/database.ts";
import { Problem } from "../http/problem.ts";
import type { VendorSettings } from "../vendors/vendors.ts";
import { countSecrets } from "./queries.ts";

/** Per account; far above what a person stores, and within what a device can list. */
const maxSecrets = 50_000;

/**
 * Checks limits before anything is written.
 *
 * @param sizes of the contents, in bytes
 * @throws Problem `quota_exceeded`, `payload_too_large` for a content beyond the vendor's limit.
 */
export async function rejectOverQuota(
  tx: Tx,
  vendor: VendorSettings,
  scope: AccountScope,
  account: AccountRow,
  sizes: readonly number[],
  newSecretCount: number,
): Promise<void> {
  if (sizes.some((size) => size > vendor.maxContentBytes))
    throw new Problem("payload_too_large", { members: { limit: vendor.maxContentBytes } });
  if (sizes.reduce((sum, size) => sum + size, account.storageUsed) > vendor.quotaBytes)
    throw new Problem("quota_exceeded");
  if (newSecretCount > 0 && (await countSecrets(tx, scope)) + newSecretCount > maxSecrets)
    throw new Problem("quota_exceeded");
}
