import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { actorOf } from "../http/access.ts";
import { rateRules } from "../http/rate-limits.ts";
import { languageOf } from "../mail/language.ts";
import type { Services } from "../services.ts";
import { callerOf } from "../sessions/caller.ts";
import { exchangePolicy, signOutPolicy } from "./policy.ts";
import { presentProviderCerts, presentTokenCerts } from "./present.ts";
import { beginSession, endSession } from "./queries.ts";
import { authSchemas } from "./schema.ts";

export const authRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, env, identityProvider, limiter, sessionTokens, vendors } = services;

  app.get("/auth/certs", { schema: authSchemas.certs, config: { access: "anybody" } }, async () =>
    presentProviderCerts(await identityProvider.keys()),
  );

  app.get("/auth/token-certs", { schema: authSchemas.tokenCerts, config: { access: "anybody" } }, () =>
    presentTokenCerts(sessionTokens),
  );

  app.post(
    "/auth/token",
    {
      schema: authSchemas.exchange,
      bodyLimit: 20 * 1024,
      config: { access: "anybody", rates: [rateRules.exchange], idempotent: true },
    },
    async (request) => {
      const { body, query } = request;
      const vendor = exchangePolicy(vendors, query.app_vendor_id);
      const identity = await identityProvider.prove(body.token);
      // What was not verified counts for its address alone: else anybody could close the exchange
      // for everybody.
      await limiter.count(rateRules.exchangeOfPerson, { subject: `${identity.issuer}\n${identity.subject}` });
      await limiter.count(rateRules.exchangeOfAll, {});
      const exchange = {
        vendorId: vendor.id,
        lifeSeconds: env.SESSION_TTL_SECONDS,
        caller: callerOf(request),
        now: services.now(),
        language: languageOf(request),
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
    { schema: authSchemas.signOut, config: { access: "signed_in", idempotent: true } },
    async (request, reply) => {
      const own = signOutPolicy(actorOf(request));
      await db.transaction((tx) => endSession(tx, own));
      sessionTokens.forget(own.accountId);
      return reply.code(204).send(null);
    },
  );
};
