import { z } from "zod";

export const VendorId = z.string().regex(/^[a-z0-9][a-z0-9-]{0,38}$/);
