import type { Billing, BillingRecord } from "@relicario/shared/api";

import type { CountedAccount } from "../users/queries.ts";
import type { VendorSettings } from "../vendors/vendors.ts";

/**
 * What the operator's billing system does not say is what the service knows: the account's plan,
 * and no invoices.
 */
export function presentBilling(
  { account, secrets, shares }: CountedAccount,
  vendor: VendorSettings,
  record: BillingRecord | null,
): Billing {
  return {
    plan: record?.plan ?? account.plan,
    use: { storage_quota: vendor.quotaBytes, storage_used: account.storageUsed, secrets, shares },
    invoices: record?.invoices ?? [],
  };
}
