import type { Vendor } from "@relicario/shared/api";

import type { KnownVendor } from "./vendors.ts";

export function presentVendor({ id, name, enabled }: KnownVendor): Vendor {
  return { vendor_id: id, name, enabled };
}
