import type { FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import { z } from "zod";

import { hasBearerToken } from "./bearer-token.ts";
import { measureResponses } from "./measure-responses.ts";
import { sendStatus } from "./problem.ts";

/** Bearer token for `/metrics`; empty: `/metrics` is off. */
export const MetricsToken = z
  .string()
  .regex(/^([A-Za-z0-9._-]{32,256})?$/, "is not 32 to 256 letters, digits, dots, dashes or underscores")
  .transform((text) => (text === "" ? undefined : text));

/**
 * Adds `/metrics` in Prometheus' format, for the bearer of the token. Register it before routes.
 *
 * @returns the registry, for further metrics
 */
export function registerMetrics(app: FastifyInstance, token: string): Registry {
  const registry = measureResponses(app);
  app.get("/metrics", async (request, reply) => {
    void reply.header("cache-control", "no-store");
    return hasBearerToken(request.headers, token)
      ? reply.type(registry.contentType).send(await registry.metrics())
      : sendStatus(reply.header("www-authenticate", "Bearer"), 401);
  });
  return registry;
}
