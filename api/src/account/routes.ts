import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { actorOf } from "../http/access.ts";
import { rateRules } from "../http/rate-limits.ts";
import { changeAccount } from "../keyring/queries.ts";
import { languageOf } from "../mail/language.ts";
import type { Services } from "../services.ts";
import { askDeletion, cancelDeletion } from "./grace.ts";
import { deletePolicy, restorePolicy } from "./policy.ts";
import { accountSchemas } from "./schema.ts";

export const accountRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { mailer, now } = services;

  app.delete(
    "/user/me",
    {
      schema: accountSchemas.remove,
      config: { access: "signed_in", rates: [rateRules.deleteAccount], idempotent: true },
    },
    async (request, reply) => {
      const when = { now: now(), language: languageOf(request) };
      const own = deletePolicy(actorOf(request), when.now);
      await changeAccount(services, own.accountId, (tx) => askDeletion(tx, own, mailer, when));
      return reply.code(204).send();
    },
  );

  app.post(
    "/user/me/restore",
    { schema: accountSchemas.restore, config: { access: "signed_in", rates: [rateRules.write], idempotent: true } },
    async (request, reply) => {
      const own = restorePolicy(actorOf(request));
      await changeAccount(services, own.accountId, (tx) =>
        cancelDeletion(tx, own, mailer, { now: now(), language: languageOf(request) }),
      );
      return reply.code(204).send();
    },
  );
};
