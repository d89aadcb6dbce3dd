import type { FastifyInstance } from "fastify";

import { retryOnConnectionLoss } from "../db/faults.ts";

/**
 * Runs calls again whose connection to the database was lost before anything was sent: those that
 * only read, and those whose route says `idempotent`. Any other call is answered 503: it may have
 * taken place, and whoever made it knows how to ask.
 */
export function retryIdempotentCalls(app: FastifyInstance): void {
  app.addHook("onRoute", (route) => {
    const isRead = [route.method].flat().every((method) => method === "GET" || method === "HEAD");
    if (!(route.config?.idempotent ?? isRead)) return;
    const { handler } = route;
    route.handler = function (request, reply) {
      return retryOnConnectionLoss(async () => {
        const result: unknown = await handler.call(this, request, reply);
        return result;
      });
    };
  });
}
