import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { requireVendor } from "./policy.ts";
import { presentVendor } from "./present.ts";
import { vendorSchemas } from "./schema.ts";
import type { Vendors } from "./vendors.ts";

export const vendorRoutes: FastifyPluginAsyncZod<{ services: { readonly vendors: Vendors } }> = async (
  app,
  { services },
) => {
  app.get("/vendors/:id", { schema: vendorSchemas.readVendor, config: { access: "public" } }, ({ params }) =>
    presentVendor(requireVendor(services.vendors, params.id)),
  );
};
