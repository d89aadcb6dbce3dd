import { ObjectStoreError } from "@relicario/tooling/objects";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { Gauge } from "prom-client";
import { z } from "zod";

import { UnfitDatabaseError, type Database } from "../db/database.ts";
import { requireMetricsToken } from "../http/metrics-token.ts";
import { Problem } from "../http/problem.ts";
import { buildResponseSchemas } from "../http/response-schemas.ts";
import type { Services } from "../services/services.ts";
import { withTimeout } from "./with-timeout.ts";

const HealthStatus = z.strictObject({ status: z.literal("ok") });
const Readiness = HealthStatus.extend({
  /** `partial`: the rows of some accounts cannot be read, all others can. */
  database: z.enum(["ok", "partial"]),
  /** Seconds that other clocks are ahead, as last observed. */
  clock_skew_seconds: z.strictObject({ identity_provider: z.int(), database: z.int() }),
});

/** For the operator: liveness, readiness, metrics, description of the API. */
export const monitoringRoutes: FastifyPluginAsyncZod<{
  services: Services;
  database: Database;
  isStopping: () => boolean;
}> = async (app, { services, database, isStopping }) => {
  const { clockSkews, env, metrics, objects } = services;
  const unreachableAccounts = new Gauge({
    name: "relicario_unreachable_accounts_ratio",
    help: "Share of accounts whose rows cannot be read, as the last readiness check found",
    registers: [metrics],
  });

  app.get(
    "/healthz",
    {
      schema: { summary: "Liveness", response: buildResponseSchemas(HealthStatus) },
      config: { access: "public" },
    },
    () => ({ status: "ok" as const }),
  );

  app.get(
    "/readyz",
    {
      schema: { summary: "Readiness", response: buildResponseSchemas(Readiness) },
      config: { access: "public" },
    },
    async () => {
      if (isStopping()) throw new Problem("service_unavailable", { detail: "stopping" });
      const [{ skewSeconds, unreachableRatio }] = await Promise.all([
        requireAnswer("the database", database.ping()),
        requireAnswer("the object store", objects.check()),
      ]);
      clockSkews.observe("database", skewSeconds);
      unreachableAccounts.set(unreachableRatio);
      return {
        status: "ok" as const,
        database: unreachableRatio === 0 ? ("ok" as const) : ("partial" as const),
        clock_skew_seconds: {
          identity_provider: clockSkews.get("identity_provider"),
          database: clockSkews.get("database"),
        },
      };
    },
  );

  app.get("/metrics", { schema: { hide: true }, config: { access: "public" } }, async (request, reply) => {
    requireMetricsToken(request, env.METRICS_TOKEN);
    return reply.type(metrics.contentType).send(await metrics.metrics());
  });

  app.get("/openapi.json", { schema: { hide: true }, config: { access: "public" } }, () => app.swagger());
};

/** @throws Problem `service_unavailable` that says what is broken */
async function requireAnswer<T>(name: string, answer: Promise<T>): Promise<T> {
  try {
    return await withTimeout(answer);
  } catch (cause) {
    if (cause instanceof ObjectStoreError) throw cause;
    const detail = cause instanceof UnfitDatabaseError ? cause.message : `${name} does not answer`;
    throw new Problem("service_unavailable", { cause, detail });
  }
}
