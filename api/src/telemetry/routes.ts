import { telemetryBounds } from "@relicario/shared/api";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { Counter, Histogram, type Registry } from "prom-client";

import { rateRules } from "../http/rate-limits.ts";
import { requireMetricsToken } from "../operations/metrics-token.ts";
import type { Services } from "../services.ts";
import { createKnownReleases } from "./known-releases.ts";
import { violationsIn } from "./policy-reports.ts";
import { telemetrySchemas } from "./schema.ts";
import { addMeasured, sumsOf, type Measured } from "./sums.ts";

/** Each report repeats the whole policy. */
const reportsBytes = 64 * 1024;
const reportTypes = ["application/reports+json", "application/csp-report"];

export const telemetryRoutes: FastifyPluginAsyncZod<{ services: Services; metrics: Registry }> = async (
  app,
  { services, metrics },
) => {
  const { db, env, limiter, now } = services;
  const known = createKnownReleases(env.DEPLOYMENTS_FOLDER, env.APP_VERSION, now);
  const labelNames = ["remote", "release", "phase", "code"] as const;
  const counter = new Counter({
    name: "relicario_pages_total",
    help: "Loads of remotes, web vitals and violations of the policy that pages told",
    labelNames,
    registers: [metrics],
  });
  const values = new Histogram({
    name: "relicario_pages_milliseconds",
    help: "How long it took; CLS in thousandths",
    labelNames,
    buckets: [...telemetryBounds],
    registers: [metrics],
  });

  const keep = async (measured: readonly Measured[]): Promise<void> => {
    if (measured.length === 0 || !(await limiter.passes(rateRules.telemetryOfAll, {}))) return;
    for (const { remote, release, phase, code, value } of measured) {
      counter.inc({ remote, release, phase, code });
      if (value !== undefined) values.observe({ remote, release, phase, code }, value);
    }
    await addMeasured(db, measured, now());
  };

  app.post(
    "/telemetry",
    { schema: telemetrySchemas.send, config: { access: "anybody", rates: [rateRules.telemetry] } },
    async ({ body: { events, vitals } }, reply) => {
      const loads = events.map(async ({ remote, release, phase, duration_ms: value, code = "" }) => ({
        ...(await known.labelsOf({ remote, release })),
        phase,
        code,
        value,
      }));
      const paints = vitals.map(async ({ remote, release, route, metric, value }) => ({
        ...(await known.labelsOf({ remote, release, route })),
        phase: metric,
        code: "",
        value,
      }));
      await keep(await Promise.all([...loads, ...paints]));
      return reply.code(202).send();
    },
  );

  app.get("/telemetry", { schema: telemetrySchemas.sums, config: { access: "anybody" } }, (request) => {
    requireMetricsToken(request, env);
    return sumsOf(db, now());
  });

  const parse = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser<string>(
    reportTypes,
    { parseAs: "string" },
    (request, body, done) => void parse(request, body, done),
  );
  app.post(
    "/reports/csp",
    {
      schema: telemetrySchemas.policy,
      bodyLimit: reportsBytes,
      config: { access: "anybody", rates: [rateRules.policyReport] },
    },
    async ({ body }, reply) => {
      await keep(await violationsIn(body, { origin: env.PUBLIC_ORIGIN, hostVersion: env.APP_VERSION, known }));
      return reply.code(204).send();
    },
  );
};
