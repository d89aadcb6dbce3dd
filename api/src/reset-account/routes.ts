import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { requireActor } from "../auth/access.ts";
import { requireFreshSignIn } from "../auth/fresh-sign-in.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { getRequestContext } from "../language/language.ts";
import type { Services } from "../services/services.ts";
import { presentAccountReset } from "./present.ts";
import { requestAccountReset, endAccountReset, findAccountReset } from "./queries.ts";
import { accountResetSchemas } from "./schema.ts";

/** The reset itself is a keyring change: complete-reset.ts. */
export const accountResetRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, now } = services;

  app.get(
    "/user/start-anew",
    { schema: accountResetSchemas.readReset, config: { access: "signed_in" } },
    async (request) => presentAccountReset(await findAccountReset(db, requireActor(request)), now()),
  );

  app.post(
    "/user/start-anew",
    {
      schema: accountResetSchemas.requestReset,
      config: { access: "signed_in", rateLimits: [rateLimitRules.resetAccount], idempotent: true },
    },
    async (request) => {
      const context = getRequestContext(request, now());
      const scope = await requireFreshSignIn(requireActor(request), services, context.now);
      return withLockedAccount(services, scope.accountId, async (tx) => {
        await requestAccountReset(tx, scope, services, context);
        return presentAccountReset(await findAccountReset(tx, scope), context.now);
      });
    },
  );

  app.delete(
    "/user/start-anew",
    {
      schema: accountResetSchemas.endReset,
      config: { access: "signed_in", rateLimits: [rateLimitRules.write], idempotent: true },
    },
    async (request) => {
      const context = getRequestContext(request, now());
      const scope = requireActor(request);
      return withLockedAccount(services, scope.accountId, async (tx) => {
        await endAccountReset(tx, scope, request.query.reason, services, context);
        return presentAccountReset(await findAccountReset(tx, scope), context.now);
      });
    },
  );
};
