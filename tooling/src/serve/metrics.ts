import type { FastifyInstance } from "fastify";

import { equalsInConstantTime } from "../http/equals-in-constant-time.ts";
import { measureResponses } from "../http/measure-responses.ts";
import { sendStatus } from "../http/problem.ts";

/** `/metrics` in Prometheus' format, for the bearer of the token. Register it before routes. */
export function registerMetrics(app: FastifyInstance, token: string): void {
  const registry = measureResponses(app);
  app.get("/metrics", async (request, reply) => {
    void reply.header("cache-control", "no-store");
    return equalsInConstantTime(request.headers.authorization ?? "", `Bearer ${token}`)
      ? reply.type(registry.contentType).send(await registry.metrics())
      : sendStatus(reply.header("www-authenticate", "Bearer"), 401);
  });
}
