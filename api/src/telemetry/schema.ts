import { Telemetry, TelemetrySums } from "@relicario/shared/api";
import { z } from "zod";

import { answers } from "../http/answers.ts";
import { PolicyReports } from "./policy-reports.ts";

const Nothing = z.undefined().describe("it was counted");

export const telemetrySchemas = {
  send: {
    summary: "What pages measured: loads of remotes and web vitals; counted, by nobody",
    body: Telemetry,
    response: answers(Nothing, 202),
  },
  sums: { summary: "Sums of the last days, for whoever shows METRICS_TOKEN", response: answers(TelemetrySums) },
  policy: {
    summary: "Violations of the content security policy, as browsers report them; counted by remote and directive",
    body: PolicyReports,
    response: answers(Nothing, 204),
  },
};
