import { maxTelemetryEvents, telemetryBucketBounds } from "@relicario/shared/api";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { Counter, Histogram } from "prom-client";

import { requireMetricsToken } from "../http/metrics-token.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import type { Services } from "../services/services.ts";
import { createKnownReleases } from "./known-releases.ts";
import { measureViolations } from "./policy-reports.ts";
import { telemetrySchemas } from "./schema.ts";
import { addMeasurements, readSums, type Measurement } from "./measurements.ts";

/** Each report repeats the whole policy. */
const maxReportBytes = 64 * 1024;
const reportMediaTypes = ["application/reports+json", "application/csp-report"];

/** As many events and vitals as one call takes, with the longest names. */
const maxTelemetryBodyBytes = 1_024 * maxTelemetryEvents;

export const telemetryRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, env, limiter, now } = services;
  const knownReleases = createKnownReleases(env.DEPLOYMENTS_FOLDER, env.APP_VERSION, now);
  const labelNames = ["remote", "release", "phase", "code"] as const;
  const measurementCounter = new Counter({
    name: "relicario_pages_total",
    help: "Loads of remotes, web vitals and CSP violations that pages reported",
    labelNames,
    registers: [services.metrics],
  });
  const durationHistogram = new Histogram({
    name: "relicario_pages_seconds",
    help: "Durations and web vitals; CLS without unit",
    labelNames,
    buckets: telemetryBucketBounds.map((milliseconds) => milliseconds / 1_000),
    registers: [services.metrics],
  });

  const recordMeasurements = async (entries: readonly Measurement[]): Promise<void> => {
    if (entries.length === 0 || !(await limiter.tryConsume(rateLimitRules.telemetryGlobal, {}))) return;
    for (const { remote, release, phase, code, value } of entries) {
      measurementCounter.inc({ remote, release, phase, code });
      if (value !== undefined) durationHistogram.observe({ remote, release, phase, code }, value / 1_000);
    }
    await addMeasurements(db, entries, now());
  };

  app.post(
    "/telemetry",
    {
      schema: telemetrySchemas.send,
      bodyLimit: maxTelemetryBodyBytes,
      config: { access: "public", rateLimits: [rateLimitRules.telemetry] },
    },
    async ({ body: { events, vitals } }, reply) => {
      const loadMeasurements = events.map(async ({ remote, release, phase, duration_ms: value, code = "" }) => ({
        ...(await knownReleases.resolveLabels({ remote, release })),
        phase,
        code,
        value,
      }));
      const vitalMeasurements = vitals.map(async ({ remote, release, route, metric, value }) => ({
        ...(await knownReleases.resolveLabels({ remote, release, route })),
        phase: metric,
        code: "",
        value,
      }));
      await recordMeasurements(await Promise.all([...loadMeasurements, ...vitalMeasurements]));
      return reply.code(202).send();
    },
  );

  app.get("/telemetry", { schema: telemetrySchemas.sums, config: { access: "public" } }, (request) => {
    requireMetricsToken(request, env.METRICS_TOKEN);
    return readSums(db, request.query, now());
  });

  const parseJson = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser<string>(
    reportMediaTypes,
    { parseAs: "string" },
    (request, body, done) => void parseJson(request, body, done),
  );
  app.post(
    "/reports/csp",
    {
      schema: telemetrySchemas.reportViolations,
      bodyLimit: maxReportBytes,
      config: { access: "public", rateLimits: [rateLimitRules.policyReport] },
    },
    async ({ body }, reply) => {
      await recordMeasurements(
        await measureViolations(body, { origin: env.PUBLIC_ORIGIN, hostVersion: env.APP_VERSION, knownReleases }),
      );
      return reply.code(204).send();
    },
  );
};
