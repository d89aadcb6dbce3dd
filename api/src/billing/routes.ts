import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { actorOf } from "../http/access.ts";
import { rateRules } from "../http/rate-limits.ts";
import type { Services } from "../services.ts";
import { accountPolicy } from "../users/policy.ts";
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
    { schema: billingSchemas.read, config: { access: "signed_in", rates: [rateRules.billing] } },
    async (request) => {
      const own = accountPolicy(actorOf(request));
      const [counted, record] = await Promise.all([readAccount(own, now()), source.read(own.accountId)]);
      return presentBilling(counted, vendors.require(own.vendorId), record);
    },
  );
};
