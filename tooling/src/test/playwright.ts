import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { chromiumVariable, findChromium } from "./chromium.ts";
import { toTestResult, type FileCost, type StepResult } from "./result.ts";
import { run } from "./run.ts";

const Test = z.object({ results: z.array(z.object({ duration: z.number() })) });
const Suite = z.object({
  file: z.string(),
  specs: z.array(z.object({ tests: z.array(Test) })),
  get suites() {
    return z.array(Suite).optional();
  },
});
const Report = z.object({
  config: z.object({ rootDir: z.string() }),
  stats: z.object({ expected: z.int(), unexpected: z.int(), flaky: z.int(), skipped: z.int() }),
  suites: z.array(Suite),
});

export async function runPlaywright(
  args: readonly string[],
  config = "playwright.config.ts",
  environment: Readonly<Record<string, string>> = {},
): Promise<StepResult> {
  const browser = await findChromium();
  if ("advice" in browser) return { passed: 0, failed: 1, output: browser.advice };
  const folder = mkdtempSync(join(tmpdir(), "playwright-"));
  const reportFile = join(folder, "report.json");
  try {
    const { code, output } = await run(
      join(rootFolder, "e2e/node_modules/.bin/playwright"),
      ["test", "--config", `e2e/${config}`, ...args],
      {
        environment: {
          [chromiumVariable]: browser.program,
          CI: "true",
          PLAYWRIGHT_JSON_OUTPUT_FILE: reportFile,
          ...environment,
        },
      },
    );
    if (!existsSync(reportFile)) return { passed: 0, failed: 1, output };
    const {
      stats,
      suites,
      config: { rootDir },
    } = Report.parse(JSON.parse(readFileSync(reportFile, "utf8")));
    return {
      ...toTestResult(stats.expected, stats.unexpected + stats.flaky, stats.skipped, code, output),
      files: suites.map((suite) => toFileCost(suite, rootDir)),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Processor seconds are unknown: browser and portal do the work. */
function toFileCost(suite: z.infer<typeof Suite>, rootDir: string): FileCost {
  return {
    file: join(rootDir, suite.file).slice(rootFolder.length + 1),
    seconds: sumDurations(suite) / 1000,
    processorSeconds: null,
  };
}

function sumDurations({ specs, suites = [] }: z.infer<typeof Suite>): number {
  const durations = specs.flatMap(({ tests }) =>
    tests.flatMap(({ results }) => results.map(({ duration }) => duration)),
  );
  return [...durations, ...suites.map(sumDurations)].reduce((total, duration) => total + duration, 0);
}
