import type { FastifyInstance } from "fastify";

import { retryOnConnectionLoss } from "../db/faults.ts";

/**
 * Reruns reads, and routes marked `idempotent`, when the database connection was lost. Other calls
 * get a 503, since they may have been committed; the client decides how to repeat them.
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
