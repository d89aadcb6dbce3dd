import type { Vendor } from "@relicario/shared/api";

import type { VendorSettings } from "./vendors.ts";

export function presentVendor({ id, name, enabled }: VendorSettings): Vendor {
  return { vendor_id: id, name, enabled };
}
