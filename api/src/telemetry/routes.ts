import { telemetryBucketBounds } from "@relicario/shared/api";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { Counter, Histogram } from "prom-client";

import { requireMetricsToken } from "../http/metrics-token.ts";
import { rateRules } from "../http/rate-limits.ts";
import type { Services } from "../services/services.ts";
import { createKnownReleases } from "./known-releases.ts";
import { readViolations } from "./policy-reports.ts";
import { telemetrySchemas } from "./schema.ts";
import { addMeasurements, readSums, type Measurement } from "./sums.ts";

/** Each report repeats the whole policy. */
const maxReportBytes = 64 * 1024;
const reportTypes = ["application/reports+json", "application/csp-report"];

export const telemetryRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, env, limiter, now } = services;
  const knownReleases = createKnownReleases(env.DEPLOYMENTS_FOLDER, env.APP_VERSION, now);
  const labelNames = ["remote", "release", "phase", "code"] as const;
  const counter = new Counter({
    name: "relicario_pages_total",
    help: "Loads of remotes, web vitals and violations of the policy that pages told",
    labelNames,
    registers: [services.metrics],
  });
  const durations = new Histogram({
    name: "relicario_pages_milliseconds",
    help: "How long it took; CLS in thousandths",
    labelNames,
    buckets: [...telemetryBucketBounds],
    registers: [services.metrics],
  });

  const record = async (entries: readonly Measurement[]): Promise<void> => {
    if (entries.length === 0 || !(await limiter.tryConsume(rateRules.telemetryGlobal, {}))) return;
    for (const { remote, release, phase, code, value } of entries) {
      counter.inc({ remote, release, phase, code });
      if (value !== undefined) durations.observe({ remote, release, phase, code }, value);
    }
    await addMeasurements(db, entries, now());
  };

  app.post(
    "/telemetry",
    { schema: telemetrySchemas.send, config: { access: "public", rates: [rateRules.telemetry] } },
    async ({ body: { events, vitals } }, reply) => {
      const loads = events.map(async ({ remote, release, phase, duration_ms: value, code = "" }) => ({
        ...(await knownReleases.labelsOf({ remote, release })),
        phase,
        code,
        value,
      }));
      const vitalEntries = vitals.map(async ({ remote, release, route, metric, value }) => ({
        ...(await knownReleases.labelsOf({ remote, release, route })),
        phase: metric,
        code: "",
        value,
      }));
      await record(await Promise.all([...loads, ...vitalEntries]));
      return reply.code(202).send();
    },
  );

  app.get("/telemetry", { schema: telemetrySchemas.sums, config: { access: "public" } }, (request) => {
    requireMetricsToken(request, env.METRICS_TOKEN);
    return readSums(db, now());
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
      bodyLimit: maxReportBytes,
      config: { access: "public", rates: [rateRules.policyReport] },
    },
    async ({ body }, reply) => {
      await record(
        await readViolations(body, { origin: env.PUBLIC_ORIGIN, hostVersion: env.APP_VERSION, knownReleases }),
      );
      return reply.code(204).send();
    },
  );
};
