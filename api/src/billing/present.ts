import type { Billing, BillingRecord } from "@relicario/shared/api";

import type { CountedAccount } from "../users/queries.ts";
import type { VendorSettings } from "../vendors/vendors.ts";

/** Falls back to the account's plan and no invoices where the billing system has no record. */
export function presentBilling(
  { account, secretCount, shareCount }: CountedAccount,
  vendor: VendorSettings,
  record: BillingRecord | null,
): Billing {
  return {
    plan: record?.plan ?? account.plan,
    use: {
      storage_quota: vendor.quotaBytes,
      storage_used: account.storageUsed,
      secrets: secretCount,
      shares: shareCount,
    },
    invoices: record?.invoices ?? [],
  };
}
