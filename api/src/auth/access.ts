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
     * Every route says who may call it at all; one that does not is refused at start.
     *
     * - `public`: nobody's session is looked at.
     * - `optional_session`: with a session or without. One that is sent must be good: an expired
     *   one counted as nobody would spend a view of a share in a stranger's name. The caller renews
     *   it, or calls without one.
     * - `signed_in`: with a good session.
     */
    access?: "public" | "optional_session" | "signed_in";
    /** Those per account count by address where nobody is signed in. */
    rates?: readonly RateLimitRule[];
    /**
     * The same call once more answers the same: it is run again when the database's connection was
     * lost. GET is, unless it says false.
     */
    idempotent?: boolean;
    /** How long its body may take to arrive, where the usual minute is too short. */
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

/** Looks at the session before a body is read. */
export function guardRoutes(app: FastifyInstance, { sessionTokens, limiter, concurrency }: GuardServices): void {
  app.decorateRequest("actor", null);
  app.addHook("onRoute", (route) => {
    if (route.config?.access === undefined) throw new Error(`${route.url} does not say who may call it`);
  });
  app.addHook("onRequest", async (request, reply) => {
    const { access, rates = [] } = request.routeOptions.config;
    if (access === undefined) return; // no such route: the answer is 404 for everybody
    const hasAuthorization = request.headers.authorization !== undefined;
    if (access === "signed_in" || (access === "optional_session" && hasAuthorization)) {
      request.actor = await retryOnConnectionLoss(() => sessionTokens.verify(requireBearerToken(request)));
      concurrency.trackCall(request.actor.accountId, reply.raw);
    }
    const accountId = request.actor?.accountId ?? null;
    const consumeRateLimits = async (): Promise<void> => {
      // counted twice at worst
      for (const rule of rates)
        await retryOnConnectionLoss(() => limiter.consume(rule, { accountId, address: request.ip }));
    };
    // An account's calls are counted in one row, for which they would wait with a connection each.
    await (accountId === null || rates.length === 0
      ? consumeRateLimits()
      : concurrency.runExclusive(accountId, consumeRateLimits));
  });
}

/**
 * @throws Problem `unauthorized` on a `public` route, and without a session on one for
 *   `optional_session`: that one asks `request.actor`.
 */
export function requireActor(request: FastifyRequest): Actor {
  if (request.actor === null) throw new Problem("unauthorized");
  return request.actor;
}
