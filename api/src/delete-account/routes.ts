import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { requireActor } from "../auth/access.ts";
import { requireFreshSignIn } from "../auth/fresh-sign-in.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { getRequestContext } from "../language/language.ts";
import type { Services } from "../services/services.ts";
import { requestDeletion, cancelDeletion } from "./deletion.ts";
import { accountSchemas } from "./schema.ts";

export const accountDeletionRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { mailer, now } = services;

  app.delete(
    "/user/me",
    {
      schema: accountSchemas.requestDeletion,
      config: { access: "signed_in", rateLimits: [rateLimitRules.deleteAccount], idempotent: true },
    },
    async (request, reply) => {
      const context = getRequestContext(request, now());
      const scope = await requireFreshSignIn(requireActor(request), services, context.now);
      await withLockedAccount(services, scope.accountId, (tx) => requestDeletion(tx, scope, mailer, context));
      return reply.code(204).send();
    },
  );

  app.post(
    "/user/me/restore",
    {
      schema: accountSchemas.cancelDeletion,
      config: { access: "signed_in", rateLimits: [rateLimitRules.write], idempotent: true },
    },
    async (request, reply) => {
      const scope = requireActor(request);
      await withLockedAccount(services, scope.accountId, (tx) =>
        cancelDeletion(tx, scope, mailer, getRequestContext(request, now())),
      );
      return reply.code(204).send();
    },
  );
};
