/** What `deploy/monitoring` has, for tests. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { parse } from "yaml";
import { z } from "zod";

import { rootFolder } from "../paths.ts";

export const monitoringFolder = join(rootFolder, "deploy/monitoring");

const Rules = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
});
const RuleTests = z.object({
  tests: z.array(
    z.object({
      name: z.string().optional(),
      alert_rule_test: z.array(z.object({ alertname: z.string(), exp_alerts: z.array(z.unknown()).optional() })),
    }),
  ),
});
const Dashboard = z.looseObject({
  title: z.string(),
  schemaVersion: z.int(),
  panels: z.array(
    z.looseObject({
      id: z.int(),
      title: z.string(),
      type: z.literal("timeseries"),
      gridPos: z.strictObject({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
      targets: z.array(z.strictObject({ refId: z.string(), expr: z.string(), legendFormat: z.string() })).min(1),
    }),
  ),
});

const readFile = (name: string): string => readFileSync(join(monitoringFolder, name), "utf8");
export const rules = Rules.parse(parse(readFile("rules.yaml"))).groups.flatMap((group) => group.rules);
export const ruleTests = RuleTests.parse(parse(readFile("rules.test.yaml"))).tests;
export const dashboard = Dashboard.parse(JSON.parse(readFile("dashboard.json")));
