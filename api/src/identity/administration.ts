import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";

import { maxPasswordLength as maxSentLength } from "@relicario/shared/api";
import type { Provider } from "oidc-provider";
import type { Pool } from "pg";
import { z } from "zod";

import type { Accounts } from "./accounts.ts";
import { TooManyAttempts } from "./attempts.ts";
import type { IdentitySettings } from "./env.ts";
import { readBody } from "./http.ts";
import type { Log } from "./log.ts";
import { maxPasswordLength, minPasswordLength } from "./passwords.ts";

/*
 * What the product's service may ask of this provider, and nobody else: IDENTITY_ADMIN_TOKEN as a
 * bearer token, JSON both ways.
 *
 * - `GET <issuer>/admin/password-rules` → `{min_length, max_length}`; beside these it refuses the
 *   account's own names and common passwords
 * - `POST <issuer>/admin/password` `{subject, old_password, new_password, keep_session?}` → 204,
 *   and every session of the person but that one (`sid` of its tokens) has ended; 422 `{problems:
 *   {old_password?: "wrong", new_password?: …}}`; 404 where there is no such person; 429 with
 *   `Retry-After` after too many wrong passwords
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
  readonly log: Log;
}

/** Answers below `/admin`; false where there is nothing, or where no token was set. */
export function createAdminHandler({ settings, provider, pool, accounts, log }: AdminDeps) {
  const { adminToken } = settings;

  return async function handleAdmin(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
  ): Promise<boolean> {
    if (adminToken === undefined) return false;
    if (!isAuthorized(request.headers.authorization, adminToken)) {
      response.setHeader("WWW-Authenticate", "Bearer");
      send(response, 401);
      return true;
    }
    if (request.method === "GET" && path === "/password-rules") {
      send(response, 200, { min_length: minPasswordLength, max_length: maxPasswordLength });
      return true;
    }
    if (request.method !== "POST" || path !== "/password") return false;
    const parsed = PasswordChangeBody.safeParse(parseJson(await readBody(request, /^application\/json\b/i)));
    if (parsed.success) await changePassword(response, parsed.data);
    else send(response, 400);
    return true;
  };

  async function changePassword(response: ServerResponse, body: z.infer<typeof PasswordChangeBody>): Promise<void> {
    try {
      const problems = await accounts.changePassword(body.subject, {
        oldPassword: body.old_password,
        newPassword: body.new_password,
      });
      if (problems === null) {
        send(response, 404);
        return;
      }
      if (Object.keys(problems).length > 0) {
        log.info("a change of password was refused", { account: body.subject });
        send(response, 422, { problems });
        return;
      }
      log.info("changed a password", {
        account: body.subject,
        ended: await endSessions(body.subject, body.keep_session),
      });
      send(response, 204);
    } catch (error) {
      if (!(error instanceof TooManyAttempts)) throw error;
      response.setHeader("Retry-After", String(error.retryAfterSeconds));
      send(response, 429);
    }
  }

  /** @returns how many of the person's sessions ended: all but that one. */
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
}

/** Digests of one length, so that time tells nothing. */
function isAuthorized(header: string | undefined, token: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(header ?? ""), digest(`Bearer ${token}`));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // refused like any other body that is not the right one
  }
}

function send(response: ServerResponse, status: number, body?: unknown): void {
  response.statusCode = status;
  response.setHeader("Cache-Control", "no-store");
  if (body === undefined) response.end();
  else response.setHeader("Content-Type", "application/json").end(JSON.stringify(body));
}
