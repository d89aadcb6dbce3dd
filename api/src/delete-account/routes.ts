import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { requireActor } from "../auth/access.ts";
import { requireFreshSignIn } from "../auth/fresh-sign-in.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { getPreferredLanguage } from "../language/language.ts";
import type { Services } from "../services/services.ts";
import { requestDeletion, cancelDeletion } from "./request-deletion.ts";
import { accountSchemas } from "./schema.ts";

export const accountDeletionRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { mailer, now } = services;

  app.delete(
    "/user/me",
    {
      schema: accountSchemas.remove,
      config: { access: "signed_in", rates: [rateLimitRules.deleteAccount], idempotent: true },
    },
    async (request, reply) => {
      const context = { now: now(), language: getPreferredLanguage(request) };
      const scope = requireFreshSignIn(requireActor(request), context.now);
      await withLockedAccount(services, scope.accountId, (tx) => requestDeletion(tx, scope, mailer, context));
      return reply.code(204).send();
    },
  );

  app.post(
    "/user/me/restore",
    {
      schema: accountSchemas.restore,
      config: { access: "signed_in", rates: [rateLimitRules.write], idempotent: true },
    },
    async (request, reply) => {
      const scope = requireActor(request);
      await withLockedAccount(services, scope.accountId, (tx) =>
        cancelDeletion(tx, scope, mailer, { now: now(), language: getPreferredLanguage(request) }),
      );
      return reply.code(204).send();
    },
  );
};
