import { maxPasswordLength as maxSentLength } from "@relicario/shared/api";
import type { FastifyPluginCallback } from "fastify";
import type { Provider } from "oidc-provider";
import type { Pool } from "pg";
import { z } from "zod";

import { hasBearerToken } from "@relicario/tooling/http";
import type { Accounts } from "./accounts.ts";
import { TooManyAttempts } from "./attempts.ts";
import type { IdentitySettings } from "./env.ts";
import { maxPasswordLength, minPasswordLength } from "./passwords.ts";

/*
 * Interface for the product's service: IDENTITY_ADMIN_TOKEN as bearer token, JSON both ways.
 *
 * - `GET <issuer>/admin/password-rules` → `{min_length, max_length}`; the account's own names and
 *   common passwords are refused too
 * - `POST <issuer>/admin/password` `{subject, old_password, new_password, keep_session?}` → 204
 *   when the password is changed and all sessions of the person have ended, except `keep_session`
 *   (`sid` of its tokens); 422 `{problems: {old_password?: "wrong", new_password?: …}}`; 404 for an
 *   unknown person; 429 with `Retry-After` after too many wrong passwords
 */

const PasswordChangeBody = z.strictObject({
  subject: z.uuid(),
  old_password: z.string().max(maxSentLength),
  new_password: z.string().max(maxSentLength),
  keep_session: z.string().max(255).nullable(),
});

interface AdminDeps {
  readonly settings: IdentitySettings;
  readonly provider: Provider;
  readonly pool: Pool;
  readonly accounts: Accounts;
}

/** Without IDENTITY_ADMIN_TOKEN every path answers 404. */
export const adminRoutes: FastifyPluginCallback<AdminDeps> = (app, { settings, provider, pool, accounts }, done) => {
  const { adminToken } = settings;
  app.addHook("onRequest", async (request, reply) => {
    void reply.header("cache-control", "no-store");
    if (adminToken === undefined) reply.callNotFound();
    else if (!hasBearerToken(request.headers, adminToken))
      await reply.code(401).header("www-authenticate", "Bearer").send();
  });
  app.get("/password-rules", () => ({ min_length: minPasswordLength, max_length: maxPasswordLength }));
  app.post("/password", async (request, reply) => {
    const parsed = PasswordChangeBody.safeParse(request.body);
    if (!parsed.success) return reply.code(400).send();
    const { subject, old_password: oldPassword, new_password: newPassword, keep_session: keepSessionId } = parsed.data;
    try {
      const problems = await accounts.changePassword(subject, { oldPassword, newPassword });
      if (problems === null) return await reply.code(404).send();
      if (Object.keys(problems).length > 0) {
        request.log.info({ account: subject }, "a change of password was refused");
        return await reply.code(422).send({ problems });
      }
      request.log.info({ account: subject, ended: await endSessions(subject, keepSessionId) }, "changed a password");
      return await reply.code(204).send();
    } catch (error) {
      if (!(error instanceof TooManyAttempts)) throw error;
      return reply.code(429).header("retry-after", error.retryAfterSeconds).send();
    }
  });
  app.all("/*", (_request, reply) => reply.callNotFound());
  done();

  /** Ends the person's sessions except one. @returns how many */
  async function endSessions(subject: string, keepSessionId: string | null): Promise<number> {
    const { rows } = await pool.query<{ id: string }>(
      "select id from provider_records where model = 'Session' and payload ->> 'accountId' = $1",
      [subject],
    );
    let endedCount = 0;
    for (const { id } of rows) {
      const session = await provider.Session.find(id);
      if (session === undefined) continue;
      if (
        keepSessionId !== null &&
        settings.clients.some(({ client_id }) => session.sidFor(client_id) === keepSessionId)
      )
        continue;
      await session.destroy();
      endedCount += 1;
    }
    return endedCount;
  }
};
