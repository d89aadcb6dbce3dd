import { Problem } from "../http/problem.ts";
import type { VendorSettings, Vendors } from "./vendors.ts";

/** Anybody may ask for any vendor, a disabled one too: the portal says why nobody can sign in. */
export function requireVendor(vendors: Vendors, id: string): VendorSettings {
  const vendor = vendors.find(id);
  if (vendor === null) throw new Problem("not_found");
  return vendor;
}

/**
 * What an account shares and asks for ends for strangers, downloads and answers under way too,
 * while the operator keeps it or its vendor closed.
 */
export function isServedPublicly(
  vendors: Vendors,
  { vendorId, lockedAt }: { readonly vendorId: string; readonly lockedAt: Date | null },
): boolean {
  return lockedAt === null && vendors.find(vendorId)?.enabled === true;
}
