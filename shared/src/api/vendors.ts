import { z } from "zod";

import { VendorId } from "../contract/vendor-id.ts";

/** Response of `GET /vendors/{id}`: public facts of a vendor. */
export const Vendor = z.strictObject({ vendor_id: VendorId, name: z.string(), enabled: z.boolean() });
export type Vendor = z.infer<typeof Vendor>;
