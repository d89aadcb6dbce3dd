import { sql } from "drizzle-orm";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import type { Registry } from "prom-client";
import { z } from "zod";

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
    // For the machine's own network: what came through the gateway was forwarded, and gets nothing.
    const forwarded = Object.keys(request.headers).some((name) => name === "forwarded" || name.startsWith("x-forwarded-"));
    if (forwarded) throw new Problem("not_found");
    return reply.type(metrics.contentType).send(await metrics.metrics());
  });

  app.get("/openapi.json", { schema: { hide: true }, config: { access: "anybody" } }, () => app.swagger());
};
