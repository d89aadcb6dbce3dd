import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";

import type { Database } from "../db/database.ts";
import { requireMetricsToken } from "../http/metrics-token.ts";
import { Problem } from "../http/problem.ts";
import { buildResponseSchemas } from "../http/response-schemas.ts";
import type { Services } from "../services/services.ts";

/** Whoever asks does so every few seconds, and must not wait for longer. */
const readinessTimeoutMilliseconds = 2_000;

const HealthStatus = z.strictObject({ status: z.literal("ok") });

/** For whoever runs the service: alive, ready, measured, described. */
export const operationRoutes: FastifyPluginAsyncZod<{
  services: Services;
  database: Database;
  isStopping: () => boolean;
}> = async (app, { services, database, isStopping }) => {
  const { env, metrics, objects } = services;

  app.get(
    "/healthz",
    {
      schema: { summary: "The process answers", response: buildResponseSchemas(HealthStatus) },
      config: { access: "public" },
    },
    () => ({ status: "ok" as const }),
  );

  app.get(
    "/readyz",
    {
      schema: { summary: "Calls can be sent here", response: buildResponseSchemas(HealthStatus) },
      config: { access: "public" },
    },
    async () => {
      if (isStopping()) throw new Problem("service_unavailable", { detail: "stopping" });
      try {
        await withTimeout(Promise.all([database.ping(), objects.checkWritable()]), readinessTimeoutMilliseconds);
      } catch (cause) {
        throw new Problem("service_unavailable", { cause });
      }
      return { status: "ok" as const };
    },
  );

  app.get("/metrics", { schema: { hide: true }, config: { access: "public" } }, async (request, reply) => {
    requireMetricsToken(request, env.METRICS_TOKEN);
    return reply.type(metrics.contentType).send(await metrics.metrics());
  });

  app.get("/openapi.json", { schema: { hide: true }, config: { access: "public" } }, () => app.swagger());
};

async function withTimeout(promise: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error("no answer in time"));
    }, milliseconds);
  });
  await Promise.race([promise, timeout]).finally(() => {
    clearTimeout(timer);
  });
}
