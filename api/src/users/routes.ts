import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { requireAvailableName } from "../accounts/user-names.ts";
import { requireActor } from "../auth/access.ts";
import type { AccountScope } from "../auth/actor.ts";
import { Problem } from "../http/problem.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { getRequestContext } from "../language/language.ts";
import type { Services } from "../services/services.ts";
import { confirmAddress, requestAddressValidation } from "./contact-address.ts";
import { presentMe } from "./present.ts";
import { createAccountReader, updateAccount } from "./queries.ts";
import { userSchemas } from "./schema.ts";

export const userRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, env, limiter, mailer, vendors, now } = services;
  const readCountedAccount = createAccountReader(db);

  async function readMe(scope: AccountScope) {
    const vendor = vendors.find(scope.vendorId);
    if (vendor === null) throw new Problem("token_invalid");
    const { account, ...counts } = await readCountedAccount(scope, now());
    return presentMe(account, counts, vendor);
  }

  app.get("/user/me", { schema: userSchemas.readMe, config: { access: "signed_in" } }, (request) =>
    readMe(requireActor(request)),
  );

  app.post(
    "/user/me",
    { schema: userSchemas.update, config: { access: "signed_in", rateLimits: [rateLimitRules.write] } },
    async (request) => {
      const scope = requireActor(request);
      if (request.body.user_name !== undefined)
        await limiter.consume(rateLimitRules.rename, { accountId: scope.accountId });
      await withLockedAccount(services, scope.accountId, (tx) =>
        updateAccount(tx, scope, request.body, mailer, getRequestContext(request, now())),
      );
      return readMe(scope);
    },
  );

  app.post(
    "/user/validate-username",
    {
      schema: userSchemas.validateName,
      config: { access: "signed_in", rateLimits: [rateLimitRules.validateName], idempotent: true },
    },
    async (request) => {
      await requireAvailableName(db, requireActor(request), request.query.username, now());
      return { valid: true as const };
    },
  );

  app.post(
    "/user/send-validate-email",
    {
      schema: userSchemas.requestAddressValidation,
      config: {
        access: "signed_in",
        rateLimits: [rateLimitRules.requestValidation, rateLimitRules.requestValidationGlobal],
      },
    },
    async (request, reply) => {
      const scope = requireActor(request);
      await withLockedAccount(services, scope.accountId, (tx) =>
        requestAddressValidation(tx, scope, services, getRequestContext(request, now())),
      );
      return reply.code(204).send();
    },
  );

  app.get(
    "/user/validate-contact-email",
    {
      schema: userSchemas.confirmAddress,
      config: { access: "signed_in", rateLimits: [rateLimitRules.confirmAddress], idempotent: false },
    }, // a nonce works once
    async (request) => {
      const scope = requireActor(request);
      await withLockedAccount(services, scope.accountId, (tx) =>
        confirmAddress(tx, scope, env.RECORD_KEY, request.query, now()),
      );
      return { valid: true as const };
    },
  );
};
