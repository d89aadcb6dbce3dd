import type { FastifyInstance, FastifyRequest } from "fastify";

import type { Actor, SessionTokens } from "../auth/session-tokens.ts";
import { Problem } from "./problem.ts";
import type { RateLimiter, RateRule } from "./rate-limits.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Every route says who may call it at all; one that does not is refused at start. */
    access?: "anybody" | "signed_in";
    rates?: readonly RateRule[];
    /** How long its body may take to arrive, where the usual minute is too short. */
    bodySeconds?: number;
  }
  interface FastifyRequest {
    actor: Actor | null;
  }
}

/** Looks at the session before a body is read. */
export function guardRoutes(app: FastifyInstance, sessions: SessionTokens, limiter: RateLimiter): void {
  app.decorateRequest("actor", null);
  app.addHook("onRoute", (route) => {
    if (route.config?.access === undefined) throw new Error(`${route.url} does not say who may call it`);
  });
  app.addHook("onRequest", async (request) => {
    const { access, rates = [] } = request.routeOptions.config;
    if (access === undefined) return; // no such route: the answer is 404 for everybody
    if (access === "signed_in") request.actor = await sessions.verify(bearerOf(request));
    for (const rule of rates) await limiter.count(rule, { accountId: request.actor?.accountId ?? null, address: request.ip });
  });
}

/** @throws Problem `unauthorized` on a route for anybody. */
export function actorOf(request: FastifyRequest): Actor {
  if (request.actor === null) throw new Problem("unauthorized");
  return request.actor;
}

/** @throws Problem `unauthorized` when the call brings none. */
export function bearerOf(request: FastifyRequest): string {
  const [, token] = /^Bearer ([A-Za-z0-9._-]{1,4096})$/i.exec(request.headers.authorization ?? "") ?? [];
  if (token === undefined) throw new Problem("unauthorized", { headers: { "www-authenticate": "Bearer" } });
  return token;
}
