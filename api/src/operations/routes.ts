import { createHash, timingSafeEqual } from "node:crypto";

import { sql } from "drizzle-orm";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import type { Registry } from "prom-client";
import { z } from "zod";

import { bearerOf } from "../http/access.ts";
import { answers } from "../http/answers.ts";
import { Problem } from "../http/problem.ts";
import type { Services } from "../services.ts";

const Healthy = z.strictObject({ status: z.literal("ok") });

/** For whoever runs the service: alive, ready, measured, described. */
export const operationRoutes: FastifyPluginAsyncZod<{ services: Services; stopping: () => boolean; metrics: Registry }> = async (
  app,
  { services, stopping, metrics },
) => {
  app.get("/healthz", { schema: { summary: "The process answers", response: answers(Healthy) }, config: { access: "anybody" } }, () => ({ status: "ok" as const }));

  app.get("/readyz", { schema: { summary: "Calls can be sent here", response: answers(Healthy) }, config: { access: "anybody" } }, async () => {
    if (stopping()) throw new Problem("service_unavailable", { detail: "stopping" });
    try {
      await services.db.execute(sql`select 1`);
      await services.objects.check();
    } catch (cause) {
      throw new Problem("service_unavailable", { cause });
    }
    return { status: "ok" as const };
  });

  app.get("/metrics", { schema: { hide: true }, config: { access: "anybody" } }, async (request, reply) => {
    if (services.env.METRICS_TOKEN === undefined) throw new Problem("not_found");
    if (!isSame(bearerOf(request), services.env.METRICS_TOKEN)) throw new Problem("unauthorized", { headers: { "www-authenticate": "Bearer" } });
    return reply.type(metrics.contentType).send(await metrics.metrics());
  });

  app.get("/openapi.json", { schema: { hide: true }, config: { access: "anybody" } }, () => app.swagger());
};

/** Takes as long for a wrong one, wherever it differs. */
function isSame(given: string, expected: string): boolean {
  const [one, other] = [given, expected].map((text) => createHash("sha256").update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}
