import { TelemetryBody, TelemetryQuery, TelemetrySums } from "@relicario/shared/api";
import { z } from "zod";

import { buildResponseSchemas } from "../http/response-schemas.ts";
import { PolicyReports } from "./policy-reports.ts";

const noContent = z.undefined().describe("counted");

export const telemetrySchemas = {
  send: {
    summary: "Adds pages' measurements, loads of remotes and web vitals, to anonymous sums",
    body: TelemetryBody,
    response: buildResponseSchemas(noContent, 202),
  },
  sums: {
    summary: "Sums of the last days; needs METRICS_TOKEN",
    querystring: TelemetryQuery,
    response: buildResponseSchemas(TelemetrySums),
  },
  reportViolations: {
    summary: "Violations of the content security policy, as browsers report them; counted by remote and directive",
    body: PolicyReports,
    response: buildResponseSchemas(noContent, 204),
  },
};
