import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import type { Services } from "../services.ts";
import { vendorPolicy } from "./policy.ts";
import { presentVendor } from "./present.ts";
import { vendorSchemas } from "./schema.ts";

export const vendorRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  app.get("/vendors/:id", { schema: vendorSchemas.get, config: { access: "anybody" } }, ({ params }) =>
    presentVendor(vendorPolicy(services.vendors, params.id)),
  );
};
