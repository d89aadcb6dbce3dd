import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { stringify } from "yaml";

import { dashboard, monitoringFolder, rules } from "./monitoring-files.ts";

const program = process.env["RELICARIO_PROMTOOL"] ?? ""; // by `npm run test:monitoring`

const runPromtool = (...args: readonly string[]): string => execFileSync(program, args, { encoding: "utf8" });

describe("promtool", () => {
  it("accepts the rules, and sees each alert fire in its test", () => {
    expect(runPromtool("check", "rules", join(monitoringFolder, "rules.yaml"))).toContain(
      `${String(rules.length)} rules found`,
    );
    expect(runPromtool("test", "rules", join(monitoringFolder, "rules.test.yaml"))).toContain("SUCCESS");
  });

  it("does not see an alert fire whose rule never holds", () => {
    const temporaryFolder = mkdtempSync(join(tmpdir(), "relicario-rules-"));
    try {
      const brokenRules = readFileSync(join(monitoringFolder, "rules.yaml"), "utf8").replace(
        "relicario_dependency_up == 0",
        "relicario_dependency_up == 7",
      );
      writeFileSync(join(temporaryFolder, "rules.yaml"), brokenRules);
      copyFileSync(join(monitoringFolder, "rules.test.yaml"), join(temporaryFolder, "rules.test.yaml"));
      expect(() => runPromtool("test", "rules", join(temporaryFolder, "rules.test.yaml"))).toThrow(/DependencyDown/);
    } finally {
      rmSync(temporaryFolder, { recursive: true });
    }
  });

  it("accepts every expression of the dashboard", () => {
    const temporaryFolder = mkdtempSync(join(tmpdir(), "relicario-dashboard-"));
    const file = join(temporaryFolder, "rules.yaml");
    try {
      const recorded = dashboard.panels.flatMap(({ id, targets }) =>
        targets.map(({ refId, expr }) => ({
          record: `panel_${String(id)}_${refId}`,
          expr: expr.replaceAll("$__rate_interval", "5m"),
        })),
      );
      writeFileSync(file, stringify({ groups: [{ name: "dashboard", rules: recorded }] }));
      expect(runPromtool("check", "rules", file)).toContain(`${String(recorded.length)} rules found`);
    } finally {
      rmSync(temporaryFolder, { recursive: true });
    }
  });
});
