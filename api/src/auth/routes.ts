import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import type { IdentityProvider } from "./identity-provider.ts";
import { presentProviderCerts, presentTokenCerts } from "./present.ts";
import { authSchemas } from "./schema.ts";
import type { SessionTokens } from "./session-tokens.ts";

export interface AuthServices {
  readonly identityProvider: IdentityProvider;
  readonly sessionTokens: SessionTokens;
}

export const authRoutes: FastifyPluginAsyncZod<{ services: AuthServices }> = async (app, { services }) => {
  const { identityProvider, sessionTokens } = services;

  app.get("/auth/certs", { schema: authSchemas.certs, config: { access: "public" } }, async () =>
    presentProviderCerts(await identityProvider.readKeySet()),
  );

  app.get("/auth/token-certs", { schema: authSchemas.tokenCerts, config: { access: "public" } }, () =>
    presentTokenCerts(sessionTokens),
  );
};
