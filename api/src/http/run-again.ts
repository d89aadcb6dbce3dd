import type { FastifyInstance } from "fastify";

import { whileLost } from "../db/faults.ts";

/**
 * Runs calls again whose connection to the database was lost before anything was sent: those that
 * only read, and those whose route says `idempotent`. Any other call is answered 503: it may have
 * taken place, and whoever made it knows how to ask.
 */
export function runAgain(app: FastifyInstance): void {
  app.addHook("onRoute", (route) => {
    const reads = [route.method].flat().every((method) => method === "GET" || method === "HEAD");
    if (!(route.config?.idempotent ?? reads)) return;
    const { handler } = route;
    route.handler = function (request, reply) {
      return whileLost(async () => {
        const answer: unknown = await handler.call(this, request, reply);
        return answer;
      });
    };
  });
}
