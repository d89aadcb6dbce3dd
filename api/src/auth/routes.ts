import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { v7 as uuidv7 } from "uuid";

import { actorOf } from "../http/access.ts";
import { Problem } from "../http/problem.ts";
import { rateRules } from "../http/rate-limits.ts";
import type { Services } from "../services.ts";
import { exchangePolicy, signOutPolicy } from "./policy.ts";
import { presentProviderCerts, presentTokenCerts } from "./present.ts";
import { accountOf, endSession, keepSession, signedOutAt } from "./queries.ts";
import { authSchemas } from "./schema.ts";

export const authRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, env, identityProvider, sessionTokens, vendors } = services;

  app.get("/auth/certs", { schema: authSchemas.certs, config: { access: "anybody" } }, async () =>
    presentProviderCerts(await identityProvider.keys()),
  );

  app.get("/auth/token-certs", { schema: authSchemas.tokenCerts, config: { access: "anybody" } }, () => presentTokenCerts(sessionTokens));

  app.post(
    "/auth/token",
    { schema: authSchemas.exchange, bodyLimit: 20 * 1024, config: { access: "anybody", rates: [rateRules.exchange, rateRules.exchangeOfAll], idempotent: true } },
    async ({ body, query }) => {
      const vendor = exchangePolicy(vendors, query.app_vendor_id);
      const identity = await identityProvider.prove(body.token);
      const accountId = await accountOf(db, vendor.id, identity);
      if (identity.providerSession !== null) {
        // A token from before a sign-out must not bring the session back.
        const out = await signedOutAt(db, accountId, identity.providerSession);
        if (out !== null && identity.issuedAt < out) throw new Problem("token_invalid");
      }
      const issuedAt = new Date();
      const expiresAt = new Date(issuedAt.getTime() + env.SESSION_TTL_SECONDS * 1_000);
      const sessionId = uuidv7();
      await keepSession(db, { id: sessionId, accountId, providerSession: identity.providerSession, createdAt: issuedAt, expiresAt });
      return {
        token: await sessionTokens.sign({ accountId, vendorId: vendor.id, sessionId, authTime: identity.authTime, issuedAt, expiresAt }),
      };
    },
  );

  app.delete("/auth/token", { schema: authSchemas.signOut, config: { access: "signed_in", idempotent: true } }, async (request, reply) => {
    await endSession(db, signOutPolicy(actorOf(request)), new Date());
    return reply.code(204).send(null);
  });
};
