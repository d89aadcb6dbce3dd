import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { requireActor } from "../auth/access.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { getPreferredLanguage } from "../language/language.ts";
import type { Services } from "../services/services.ts";
import { readCallerInfo } from "./caller.ts";
import { beginSession, endSession } from "./exchange.ts";
import { authorizeExchange } from "./policy.ts";
import { presentSignIn } from "./present.ts";
import { sessionSchemas } from "./schema.ts";
import { closeOtherSignIns, closeSignIn, readSignIns } from "./sign-ins.ts";

export const sessionRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, env, identityProvider, limiter, now, sessionTokens, vendors } = services;
  const writeConfig = { access: "signed_in", rates: [rateLimitRules.write] } as const;

  app.post(
    "/auth/token",
    {
      schema: sessionSchemas.exchange,
      bodyLimit: 20 * 1024,
      config: { access: "public", rates: [rateLimitRules.exchange], idempotent: true },
    },
    async (request) => {
      const { body, query } = request;
      const vendor = authorizeExchange(vendors, query.app_vendor_id);
      const identity = await identityProvider.verify(body.token);
      // What was not verified counts for its address alone: else anybody could close the exchange
      // for everybody.
      await limiter.consume(rateLimitRules.exchangePerPerson, { subject: `${identity.issuer}\n${identity.subject}` });
      await limiter.consume(rateLimitRules.exchangeGlobal, {});
      const exchange = {
        vendorId: vendor.id,
        lifetimeSeconds: env.SESSION_TTL_SECONDS,
        caller: readCallerInfo(request),
        now: now(),
        language: getPreferredLanguage(request),
      };
      const { id: sessionId, ...session } = await db.transaction((tx) =>
        beginSession(tx, identity, exchange, services.mailer),
      );
      return {
        token: await sessionTokens.sign({ ...session, vendorId: vendor.id, sessionId, authTime: identity.authTime }),
      };
    },
  );

  app.delete(
    "/auth/token",
    { schema: sessionSchemas.signOut, config: { access: "signed_in", idempotent: true } },
    async (request, reply) => {
      const scope = requireActor(request);
      await db.transaction((tx) => endSession(tx, scope));
      sessionTokens.invalidate(scope.accountId);
      return reply.code(204).send(null);
    },
  );

  app.get("/user/sessions", { schema: sessionSchemas.list, config: { access: "signed_in" } }, async (request) => ({
    sessions: (await readSignIns(db, requireActor(request), now())).map(presentSignIn),
  }));

  app.delete("/user/sessions/:id", { schema: sessionSchemas.end, config: writeConfig }, async (request, reply) => {
    const scope = requireActor(request);
    await withLockedAccount(services, scope.accountId, (tx) => closeSignIn(tx, scope, request.params.id, now()));
    sessionTokens.invalidate(scope.accountId);
    return reply.code(204).send();
  });

  app.delete(
    "/user/sessions",
    { schema: sessionSchemas.endOthers, config: { ...writeConfig, idempotent: true } },
    async (request, reply) => {
      const scope = requireActor(request);
      await withLockedAccount(services, scope.accountId, (tx) => closeOtherSignIns(tx, scope, now()));
      sessionTokens.invalidate(scope.accountId);
      return reply.code(204).send();
    },
  );
};
