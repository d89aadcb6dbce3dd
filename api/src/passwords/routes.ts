import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { requireActor } from "../auth/access.ts";
import type { Env } from "../env/env.ts";
import { Problem } from "../http/problem.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { getPreferredLanguage } from "../language/language.ts";
import type { Services } from "../services/services.ts";
import { createEmbeddedPasswordProvider } from "./embedded.ts";
import { createKeycloakPasswordProvider } from "./keycloak.ts";
import type { PasswordProvider } from "./password-provider.ts";
import { findAccountIds, endOtherSessions, readIdentity } from "./queries.ts";
import { passwordSchemas } from "./schema.ts";

/*
 * [Note: Change of password]
 *
 * 1. The provider checks the old password, sets the new one and ends its own other sessions: they
 *    get no token any more.
 * 2. Here every session ends that came from one of those, at each vendor where the person has an
 *    account, and a mail says so.
 *
 * Where this process ends between the two, sessions from before live until their tokens run out
 * (SESSION_TTL_SECONDS): nobody prolongs them.
 */
export const passwordRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, env, mailer, sessionTokens, vendors, now } = services;
  const provider = createPasswordProvider(env);

  app.get(
    "/user/password",
    { schema: passwordSchemas.rules, config: { access: "signed_in", rates: [rateLimitRules.passwordRules] } },
    async () =>
      provider === null ? { changeable: false, rules: [] } : { changeable: true, rules: await provider.rules() },
  );

  app.post(
    "/user/change-password",
    { schema: passwordSchemas.change, config: { access: "signed_in", rates: [rateLimitRules.changePassword] } },
    async (request, reply) => {
      const scope = requireActor(request);
      if (provider === null)
        throw new Problem("not_found", { detail: "passwords are changed at the identity provider" });
      const identity = await readIdentity(db, scope);
      const { old_password: oldPassword, new_password: newPassword } = request.body;
      const rejections = await provider.change({
        subject: identity.subject,
        oldPassword,
        newPassword,
        keepSessionId: identity.providerSession,
      });
      if (rejections.length > 0) throw new Problem("validation_error", { members: { errors: rejections } });
      for (const accountId of await findAccountIds(db, vendors.ids, identity)) {
        await withLockedAccount(services, accountId, async (tx) => {
          await endOtherSessions(tx, accountId, scope, identity, now());
          await mailer.queue(tx, accountId, "password_changed", {
            now: now(),
            language: getPreferredLanguage(request),
          });
        });
        sessionTokens.invalidate(accountId);
      }
      return reply.code(204).send();
    },
  );
};

/**
 * Null where the deployment names no such interface: then passwords are changed at the provider
 * itself.
 */
function createPasswordProvider({ IDP_ADMIN }: Pick<Env, "IDP_ADMIN">): PasswordProvider | null {
  if (IDP_ADMIN === undefined) return null;
  return IDP_ADMIN.kind === "embedded"
    ? createEmbeddedPasswordProvider(IDP_ADMIN)
    : createKeycloakPasswordProvider(IDP_ADMIN);
}
