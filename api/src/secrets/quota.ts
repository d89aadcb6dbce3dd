import type { Tx } from "../db/database.ts";
import { Problem } from "../http/problem.ts";
import type { AccountRow } from "../keyring/queries.ts";
import type { KnownVendor } from "../vendors/vendors.ts";
import type { OwnSecrets } from "./policy.ts";
import { countSecrets } from "./queries.ts";

/** Rows of one account; far above what one person keeps, and within what one device lists. */
const maxSecrets = 50_000;

/** @throws Problem `quota_exceeded`, `payload_too_large` for a content that the vendor never takes. */
export async function refuseExcess(tx: Tx, vendor: KnownVendor, own: OwnSecrets, account: AccountRow, size: number, isNew: boolean): Promise<void> {
  if (size > vendor.contentBytes) throw new Problem("payload_too_large", { members: { limit: vendor.contentBytes } });
  if (account.storageUsed + size > vendor.quotaBytes) throw new Problem("quota_exceeded");
  if (isNew && (await countSecrets(tx, own)) >= maxSecrets) throw new Problem("quota_exceeded");
}
