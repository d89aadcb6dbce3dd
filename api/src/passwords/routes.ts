import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { findAccountIds, readIdentity } from "../accounts/identities.ts";
import { withLockedAccount } from "../accounts/lock-account.ts";
import { requireActor } from "../auth/access.ts";
import { createKeycloakAdmin } from "../auth/keycloak-admin.ts";
import type { Env } from "../env/env.ts";
import { Problem } from "../http/problem.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { getRequestContext } from "../language/language.ts";
import type { Services } from "../services/services.ts";
import { createEmbeddedPasswordProvider } from "./embedded.ts";
import { createKeycloakPasswordProvider } from "./keycloak.ts";
import type { PasswordProvider } from "./password-provider.ts";
import { readProviderSessionId, revokeOtherSessions } from "./queries.ts";
import { passwordSchemas } from "./schema.ts";

/*
 * [Note: Change of password]
 *
 * 1. The provider verifies the old password, sets the new one and ends its other sessions, which
 *    get no token any more.
 * 2. This service revokes all sessions that came from those, at each vendor where the person has an
 *    account, and sends a mail.
 *
 * If the process ends in between, earlier sessions live until their tokens expire
 * (SESSION_TTL_SECONDS): they cannot be renewed.
 */
export const passwordRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, env, mailer, sessionTokens, vendors, now } = services;
  const provider = createPasswordProvider(env);

  app.get(
    "/user/password",
    { schema: passwordSchemas.readRules, config: { access: "signed_in", rateLimits: [rateLimitRules.passwordRules] } },
    async () =>
      provider === null ? { changeable: false, rules: [] } : { changeable: true, rules: await provider.readRules() },
  );

  app.post(
    "/user/change-password",
    {
      schema: passwordSchemas.changePassword,
      config: { access: "signed_in", rateLimits: [rateLimitRules.changePassword] },
    },
    async (request, reply) => {
      const scope = requireActor(request);
      if (provider === null)
        throw new Problem("not_found", { detail: "passwords are changed at the identity provider" });
      const identity = await readIdentity(db, scope.accountId);
      const keepSessionId = await readProviderSessionId(db, scope);
      const { old_password: oldPassword, new_password: newPassword } = request.body;
      const rejections = await provider.changePassword({
        subject: identity.subject,
        oldPassword,
        newPassword,
        keepSessionId,
      });
      if (rejections.length > 0) throw new Problem("validation_error", { members: { errors: rejections } });
      for (const accountId of await findAccountIds(db, vendors.ids, identity)) {
        await withLockedAccount(services, accountId, async (tx) => {
          await revokeOtherSessions(tx, accountId, scope, keepSessionId, now());
          await mailer.queue(tx, accountId, "password_changed", getRequestContext(request, now()));
        });
        sessionTokens.invalidate(accountId);
      }
      return reply.code(204).send();
    },
  );
};

/** Null when the deployment configures no interface: passwords are then changed at the provider. */
function createPasswordProvider({ IDP_ADMIN }: Pick<Env, "IDP_ADMIN">): PasswordProvider | null {
  if (IDP_ADMIN === undefined) return null;
  return IDP_ADMIN.kind === "embedded"
    ? createEmbeddedPasswordProvider(IDP_ADMIN)
    : createKeycloakPasswordProvider(createKeycloakAdmin(IDP_ADMIN));
}
