import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { collectDefaultMetrics, Registry } from "prom-client";

import { rootFolder } from "../paths.ts";
import { dashboard, rules, ruleTests } from "./monitoring-files.ts";

const expressions = [
  ...rules.map(({ expr }) => expr),
  ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
];

/** Names of the metrics that the programs export, without the endings of a histogram. */
function listExportedMetrics(): readonly string[] {
  const processMetrics = new Registry();
  collectDefaultMetrics({ register: processMetrics });
  const own = globSync("{api,tooling}/src/**/*.ts", { cwd: rootFolder })
    .filter((file) => !file.endsWith(".test.ts"))
    .flatMap((file) => [
      ...readFileSync(join(rootFolder, file), "utf8").matchAll(/\bname: "((?:http|db|relicario)_\w+)"/g),
    ])
    .map(([, name = ""]) => name);
  return [...processMetrics.getMetricsAsArray().map(({ name }) => name), ...own];
}

describe("the files for monitoring", () => {
  it("use only metrics that the programs export, and the documentation names ours", () => {
    const documentation = readFileSync(join(rootFolder, "docs/operations.md"), "utf8");
    const names = expressions.flatMap(
      (expression) => expression.match(/\b(?:http|db|relicario|process|nodejs)_\w+(?=[{[ )]|$)/gm) ?? [],
    );
    const labels = /^(http_route|http_request_method|http_response_status_code)$/;
    const metrics = [...new Set(names.filter((name) => !labels.test(name)))];
    expect(metrics.length).toBeGreaterThan(12);
    const exported = listExportedMetrics();
    const findExported = (name: string): string | undefined =>
      [name, name.replace(/_(bucket|count)$/, "")].find((candidate) => exported.includes(candidate));
    expect(metrics.filter((name) => findExported(name) === undefined)).toEqual([]);
    const isDocumented = (name: string): boolean =>
      /^(process|nodejs)_/.test(name) || documentation.includes(`\`${findExported(name) ?? name}`);
    expect(metrics.filter((name) => !isDocumented(name))).toEqual([]);
  });

  it("make each alert fire in a test, and none for a healthy system", () => {
    const alerts = rules.map(({ alert }) => alert).sort();
    const listAlerts = (isFiring: boolean): string[] =>
      ruleTests
        .flatMap((test) => test.alert_rule_test)
        .filter(({ exp_alerts = [] }) => exp_alerts.length > 0 === isFiring)
        .map(({ alertname }) => alertname)
        .sort();
    expect(alerts.length).toBeGreaterThan(10);
    expect([listAlerts(true), listAlerts(false)]).toEqual([alerts, alerts]);
  });

  it("have one place for each panel of the dashboard", () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ gridPos: { x, y } }) => `${String(x)} ${String(y)}`)).size).toBe(panels.length);
    for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
  });
});
