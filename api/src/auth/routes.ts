import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { requireActor } from "../http/access.ts";
import { rateRules } from "../http/rate-limits.ts";
import { getPreferredLanguage } from "../mail/language.ts";
import type { Services } from "../services.ts";
import { readCallerInfo } from "../sessions/caller.ts";
import { authorizeExchange, authorizeSignOut } from "./policy.ts";
import { presentProviderCerts, presentTokenCerts } from "./present.ts";
import { beginSession, endSession } from "./queries.ts";
import { authSchemas } from "./schema.ts";

export const authRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, env, identityProvider, limiter, sessionTokens, vendors } = services;

  app.get("/auth/certs", { schema: authSchemas.certs, config: { access: "public" } }, async () =>
    presentProviderCerts(await identityProvider.keys()),
  );

  app.get("/auth/token-certs", { schema: authSchemas.tokenCerts, config: { access: "public" } }, () =>
    presentTokenCerts(sessionTokens),
  );

  app.post(
    "/auth/token",
    {
      schema: authSchemas.exchange,
      bodyLimit: 20 * 1024,
      config: { access: "public", rates: [rateRules.exchange], idempotent: true },
    },
    async (request) => {
      const { body, query } = request;
      const vendor = authorizeExchange(vendors, query.app_vendor_id);
      const identity = await identityProvider.verify(body.token);
      // What was not verified counts for its address alone: else anybody could close the exchange
      // for everybody.
      await limiter.consume(rateRules.exchangePerPerson, { subject: `${identity.issuer}\n${identity.subject}` });
      await limiter.consume(rateRules.exchangeGlobal, {});
      const exchange = {
        vendorId: vendor.id,
        lifetimeSeconds: env.SESSION_TTL_SECONDS,
        caller: readCallerInfo(request),
        now: services.now(),
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
    { schema: authSchemas.signOut, config: { access: "signed_in", idempotent: true } },
    async (request, reply) => {
      const scope = authorizeSignOut(requireActor(request));
      await db.transaction((tx) => endSession(tx, scope));
      sessionTokens.invalidate(scope.accountId);
      return reply.code(204).send(null);
    },
  );
};
