import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { Counter } from "prom-client";

import { rateLimitRules } from "../http/rate-limits.ts";
import type { Services } from "../services/services.ts";
import { reportSchemas } from "./schema.ts";
import { saveReport } from "./share-report.ts";

export const reportRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const counter = new Counter({
    name: "relicario_share_reports_total",
    help: "Reports of shares to the operator",
    labelNames: ["reason"],
    registers: [services.metrics],
  });

  app.post(
    "/reports/share",
    { schema: reportSchemas.reportShare, config: { access: "public", rateLimits: [rateLimitRules.report] } },
    async (request, reply) => {
      if (await saveReport(services, request.body)) counter.inc({ reason: request.body.reason });
      return reply.code(204).send();
    },
  );
};
