import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import type { Services } from "../services.ts";
import { requireVendor } from "./policy.ts";
import { presentVendor } from "./present.ts";
import { vendorSchemas } from "./schema.ts";

export const vendorRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  app.get("/vendors/:id", { schema: vendorSchemas.get, config: { access: "public" } }, ({ params }) =>
    presentVendor(requireVendor(services.vendors, params.id)),
  );
};
