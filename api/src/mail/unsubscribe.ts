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

/** Long, because people find old mails. */
const linkValidityDays = 365;

const unsubscribePath = "/mails/unsubscribe";

/**
 * Creates the link of `List-Unsubscribe`. Someone who steals it can only turn off mails about one
 * topic.
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
 * RFC 8058: mail programs post a form without a session. There is no GET, so that link scanners
 * unsubscribe no one.
 */
export const unsubscribeRoutes: FastifyPluginAsyncZod<{ services: UnsubscribeServices }> = async (
  app,
  { services },
) => {
  const { db, grants } = services;
  // The form repeats the query: it is read and discarded.
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
        summary: "Turns off mails about a topic, with the token of such a mail (RFC 8058)",
        querystring: UnsubscribeQuery,
        response: buildResponseSchemas(z.undefined().describe("turned off"), 204),
      },
      config: { access: "public", rateLimits: [rateLimitRules.unsubscribe], idempotent: true },
    },
    async ({ query }, reply) => {
      const grant = await grants.verify(query.token, "unsubscribe");
      if (grant === null) throw new Problem("not_found");
      const { account, about } = grant;
      await db
        .update(accounts)
        .set({ mutedMailTopics: sql`array_append(${accounts.mutedMailTopics}, ${about})` })
        .where(and(eq(accounts.id, account), not(sql`${about} = any(${accounts.mutedMailTopics})`)));
      return reply.code(204).send();
    },
  );
};
