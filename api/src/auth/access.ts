import type { FastifyInstance, FastifyRequest } from "fastify";

import { retryOnConnectionLoss } from "../db/faults.ts";
import type { AccountConcurrency } from "../http/account-concurrency.ts";
import { requireBearerToken } from "../http/bearer-token.ts";
import { Problem } from "../http/problem.ts";
import type { RateLimiter, RateLimitRule } from "../http/rate-limits.ts";
import type { Actor } from "./actor.ts";
import type { SessionTokens } from "./session-tokens.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /**
     * Who may call the route. A route without it keeps the service from starting.
     *
     * - `public`: the session is ignored.
     * - `optional_session`: with or without a session. A session that is sent must be valid: if an
     *   expired session were ignored, its owner would use up a view of a share as an anonymous
     *   visitor. The caller renews the session, or calls without it.
     * - `signed_in`: with a valid session.
     */
    access?: "public" | "optional_session" | "signed_in";
    /** Rules per account count calls by IP address when there is no session. */
    rateLimits?: readonly RateLimitRule[];
    /**
     * Repeating the call gives the same response: it is run again when the database connection was
     * lost. True for GET unless set to false.
     */
    idempotent?: boolean;
    /** How long the body may take to arrive, if not the default of a minute. */
    bodyTimeoutSeconds?: number;
  }
  interface FastifyRequest {
    actor: Actor | null;
  }
}

interface GuardServices {
  readonly sessionTokens: SessionTokens;
  readonly limiter: RateLimiter;
  readonly concurrency: AccountConcurrency;
}

/** Checks the session before the body is read. */
export function guardRoutes(app: FastifyInstance, { sessionTokens, limiter, concurrency }: GuardServices): void {
  app.decorateRequest("actor", null);
  app.addHook("onRoute", (route) => {
    if (route.config?.access === undefined) throw new Error(`${route.url} does not declare its access`);
  });
  app.addHook("onRequest", async (request, reply) => {
    const { access, rateLimits = [] } = request.routeOptions.config;
    if (access === undefined) return; // no such route: answers 404 without checking the session
    const hasAuthorization = request.headers.authorization !== undefined;
    if (access === "signed_in" || (access === "optional_session" && hasAuthorization)) {
      request.actor = await retryOnConnectionLoss(() => sessionTokens.verify(requireBearerToken(request)));
      concurrency.admitCall(request.actor.accountId, reply.raw);
    }
    const accountId = request.actor?.accountId ?? null;
    const consumeRateLimits = async (): Promise<void> => {
      for (const rule of rateLimits) await limiter.consume(rule, { accountId, address: request.ip });
    };
    // An account's calls are counted in one row. The queue keeps waiting calls from each holding a
    // database connection.
    await (accountId === null || rateLimits.length === 0
      ? consumeRateLimits()
      : concurrency.runWriteExclusive(accountId, consumeRateLimits));
  });
}

/**
 * @throws Problem `unauthorized` on a `public` route, and without a session on an
 *   `optional_session` one, which reads `request.actor` instead.
 */
export function requireActor(request: FastifyRequest): Actor {
  if (request.actor === null) throw new Problem("unauthorized");
  return request.actor;
}
