import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { requireActor } from "../auth/access.ts";
import { requireFreshSignIn } from "../auth/fresh-sign-in.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { getPreferredLanguage } from "../language/language.ts";
import type { Services } from "../services/services.ts";
import { presentAccountReset } from "./present.ts";
import { requestAccountReset, endAccountReset, findAccountReset } from "./queries.ts";
import { accountResetSchemas } from "./schema.ts";

/** What does it after the wait is a keyring change: complete-reset.ts. */
export const accountResetRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, now } = services;

  app.get("/user/start-anew", { schema: accountResetSchemas.get, config: { access: "signed_in" } }, async (request) =>
    presentAccountReset(await findAccountReset(db, requireActor(request)), now()),
  );

  app.post(
    "/user/start-anew",
    {
      schema: accountResetSchemas.request,
      config: { access: "signed_in", rates: [rateLimitRules.resetAccount], idempotent: true },
    },
    async (request) => {
      const context = { now: now(), language: getPreferredLanguage(request) };
      const scope = requireFreshSignIn(requireActor(request), context.now);
      return withLockedAccount(services, scope.accountId, async (tx) => {
        await requestAccountReset(tx, scope, services, context);
        return presentAccountReset(await findAccountReset(tx, scope), context.now);
      });
    },
  );

  app.delete(
    "/user/start-anew",
    {
      schema: accountResetSchemas.end,
      config: { access: "signed_in", rates: [rateLimitRules.write], idempotent: true },
    },
    async (request) => {
      const context = { now: now(), language: getPreferredLanguage(request) };
      const scope = requireActor(request);
      return withLockedAccount(services, scope.accountId, async (tx) => {
        await endAccountReset(tx, scope, request.query.reason, services, context);
        return presentAccountReset(await findAccountReset(tx, scope), context.now);
      });
    },
  );
};
