import { Problem } from "../http/problem.ts";
import type { VendorSettings, Vendors } from "./vendors.ts";

/** Returns disabled vendors too: the portal explains why sign-in is off. */
export function requireVendor(vendors: Vendors, id: string): VendorSettings {
  const vendor = vendors.find(id);
  if (vendor === null) throw new Problem("not_found");
  return vendor;
}

/**
 * While an account is locked or its vendor disabled, its shares and requests are hidden from
 * strangers, downloads and answers under way included.
 */
export function isServedPublicly(
  vendors: Vendors,
  { vendorId, lockedAt }: { readonly vendorId: string; readonly lockedAt: Date | null },
): boolean {
  return lockedAt === null && vendors.find(vendorId)?.enabled === true;
}
