import { Vendor, VendorId } from "@relicario/shared/api";
import { z } from "zod";

import { buildResponseSchemas } from "../http/response-schemas.ts";

export const vendorSchemas = {
  readVendor: {
    summary: "Public details of a vendor",
    params: z.strictObject({ id: VendorId }),
    response: buildResponseSchemas(Vendor),
  },
};
