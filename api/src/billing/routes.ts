import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { requireActor } from "../auth/access.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import type { Services } from "../services/services.ts";
import { createAccountReader } from "../users/queries.ts";
import { createBillingSource } from "./billing-source.ts";
import { presentBilling } from "./present.ts";
import { billingSchemas } from "./schema.ts";

export const billingRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, env, vendors, now } = services;
  const source = createBillingSource(env);
  const readAccount = createAccountReader(db);

  app.get(
    "/user/billing",
    { schema: billingSchemas.read, config: { access: "signed_in", rateLimits: [rateLimitRules.billing] } },
    async (request) => {
      const scope = requireActor(request);
      const [countedAccount, record] = await Promise.all([readAccount(scope, now()), source.read(scope.accountId)]);
      return presentBilling(countedAccount, vendors.require(scope.vendorId), record);
    },
  );
};
