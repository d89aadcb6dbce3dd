import { UnsubscribeQuery, type MailTopic } from "@relicario/shared/api";
import { and, eq, not, sql } from "drizzle-orm";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";

import type { Grants } from "../auth/grants.ts";
import type { Db } from "../db/database.ts";
import { accounts } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { buildResponseSchemas } from "../http/response-schemas.ts";

/** As long as somebody may come upon an old mail. */
const linkValidityDays = 365;

const unsubscribePath = "/mails/unsubscribe";

/**
 * The address that a mail names in `List-Unsubscribe`. What it lets its holder do is of use to
 * nobody: one kind of mails ends.
 */
export function createUnsubscribeLinks(
  grants: Grants,
  apiBase: string,
  now: () => Date,
): (accountId: string, about: MailTopic) => Promise<string> {
  return async (account, about) => {
    const token = await grants.issue(
      { for: "unsubscribe", account, about },
      new Date(now().getTime() + linkValidityDays * 86_400_000),
    );
    return `${apiBase}${unsubscribePath}?${new URLSearchParams({ token }).toString()}`;
  };
}

export interface UnsubscribeServices {
  readonly db: Db;
  readonly grants: Grants;
}

/**
 * RFC 8058: programs of mail post a form without being signed in. A look by GET is no such route,
 * so that scanners end nothing.
 */
export const unsubscribeRoutes: FastifyPluginAsyncZod<{ services: UnsubscribeServices }> = async (
  app,
  { services },
) => {
  const { db, grants } = services;
  // The form says nothing that the address does not: it is read to its end and dropped.
  app.addContentTypeParser(
    ["application/x-www-form-urlencoded", "multipart/form-data"],
    { parseAs: "string", bodyLimit: 4_096 },
    (_request, _body, done) => {
      done(null, null);
    },
  );

  app.post(
    unsubscribePath,
    {
      schema: {
        summary: "Ends mails about one thing, by the token of such a mail (RFC 8058)",
        querystring: UnsubscribeQuery,
        response: buildResponseSchemas(z.undefined().describe("no more are sent"), 204),
      },
      config: { access: "public", rates: [rateLimitRules.unsubscribe], idempotent: true },
    },
    async ({ query }, reply) => {
      const grant = await grants.verify(query.token, "unsubscribe");
      if (grant === null) throw new Problem("not_found");
      const { account, about } = grant;
      await db
        .update(accounts)
        .set({ mailsOff: sql`array_append(${accounts.mailsOff}, ${about})` })
        .where(and(eq(accounts.id, account), not(sql`${about} = any(${accounts.mailsOff})`)));
      return reply.code(204).send();
    },
  );
};
