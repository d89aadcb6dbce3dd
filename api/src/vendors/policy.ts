import { Problem } from "../http/problem.ts";
import type { KnownVendor, Vendors } from "./vendors.ts";

/** Anybody may ask for any vendor, a disabled one too: the portal says why nobody can sign in. */
export function vendorPolicy(vendors: Vendors, id: string): KnownVendor {
  const vendor = vendors.find(id);
  if (vendor === null) throw new Problem("not_found");
  return vendor;
}
