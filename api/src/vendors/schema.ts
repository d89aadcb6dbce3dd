import { Vendor, VendorId } from "@relicario/shared/api";
import { z } from "zod";

import { buildResponseSchemas } from "../http/response-schemas.ts";

export const vendorSchemas = {
  get: {
    summary: "What the service knows of a vendor and may tell anybody",
    params: z.strictObject({ id: VendorId }),
    response: buildResponseSchemas(Vendor),
  },
};
