import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import type { Registry } from "prom-client";
import { z } from "zod";

import type { OpenDatabase } from "../db/database.ts";
import { answers } from "../http/answers.ts";
import { Problem } from "../http/problem.ts";
import type { Services } from "../services.ts";
import { requireMetricsToken } from "./metrics-token.ts";

/** Whoever asks does so every few seconds, and must not wait for longer. */
const readyMilliseconds = 2_000;

const Healthy = z.strictObject({ status: z.literal("ok") });

/** For whoever runs the service: alive, ready, measured, described. */
export const operationRoutes: FastifyPluginAsyncZod<{
  services: Services;
  database: OpenDatabase;
  stopping: () => boolean;
  metrics: Registry;
}> = async (app, { services, database, stopping, metrics }) => {
  app.get(
    "/healthz",
    { schema: { summary: "The process answers", response: answers(Healthy) }, config: { access: "anybody" } },
    () => ({ status: "ok" as const }),
  );

  app.get(
    "/readyz",
    { schema: { summary: "Calls can be sent here", response: answers(Healthy) }, config: { access: "anybody" } },
    async () => {
      if (stopping()) throw new Problem("service_unavailable", { detail: "stopping" });
      try {
        await inTime(Promise.all([database.ping(), services.objects.check()]), readyMilliseconds);
      } catch (cause) {
        throw new Problem("service_unavailable", { cause });
      }
      return { status: "ok" as const };
    },
  );

  app.get("/metrics", { schema: { hide: true }, config: { access: "anybody" } }, async (request, reply) => {
    requireMetricsToken(request, services.env);
    return reply.type(metrics.contentType).send(await metrics.metrics());
  });

  app.get("/openapi.json", { schema: { hide: true }, config: { access: "anybody" } }, () => app.swagger());
};

async function inTime(work: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error("no answer in time"));
    }, milliseconds);
  });
  await Promise.race([work, late]).finally(() => {
    clearTimeout(timer);
  });
}
