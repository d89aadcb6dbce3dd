import { z } from "zod";

export const VendorId = z.string().regex(/^[a-z0-9][a-z0-9-]{0,38}$/);

/** `GET /vendors/{id}`: what the service knows of a vendor and may tell anybody. */
export const Vendor = z.strictObject({ vendor_id: VendorId, name: z.string(), enabled: z.boolean() });
export type Vendor = z.infer<typeof Vendor>;
