import { TelemetryBody, TelemetrySums } from "@relicario/shared/api";
import { z } from "zod";

import { buildResponseSchemas } from "../http/response-schemas.ts";
import { PolicyReports } from "./policy-reports.ts";

const noContent = z.undefined().describe("it was counted");

export const telemetrySchemas = {
  send: {
    summary: "What pages measured: loads of remotes and web vitals; counted, by nobody",
    body: TelemetryBody,
    response: buildResponseSchemas(noContent, 202),
  },
  sums: {
    summary: "Sums of the last days, for whoever shows METRICS_TOKEN",
    response: buildResponseSchemas(TelemetrySums),
  },
  policy: {
    summary: "Violations of the content security policy, as browsers report them; counted by remote and directive",
    body: PolicyReports,
    response: buildResponseSchemas(noContent, 204),
  },
};
