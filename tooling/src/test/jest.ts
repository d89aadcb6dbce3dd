import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { toTestResult, type FileCost, type StepResult } from "./result.ts";
import { getBinPath, run } from "./run.ts";

const jestEnvironment = { NODE_OPTIONS: "--experimental-vm-modules --disable-warning=ExperimentalWarning" } as const;

const Report = z.object({
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  numPendingTests: z.int(),
  /** Files that failed before any of their tests ran. */
  numRuntimeErrorTestSuites: z.int(),
  testResults: z.array(z.object({ name: z.string(), startTime: z.number(), endTime: z.number() })),
});

const Cost = z.object({ file: z.string(), processorSeconds: z.number() });

interface JestOptions {
  readonly workers?: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly lowPriority?: boolean;
}

/** A worker above 700 MB is replaced: with `--experimental-vm-modules` it never frees memory. */
export async function runJest(
  args: readonly string[],
  { workers = 2, environment = {}, lowPriority = false }: JestOptions = {},
): Promise<StepResult> {
  const folder = mkdtempSync(join(tmpdir(), "jest-"));
  const [reportFile, costsFile] = [join(folder, "report.json"), join(folder, "costs.jsonl")];
  try {
    const { code, output } = await run(
      getBinPath("jest"),
      [
        `--maxWorkers=${String(workers)}`,
        "--workerIdleMemoryLimit=700MB",
        "--reporters=default",
        "--json",
        `--outputFile=${reportFile}`,
        ...args,
      ],
      {
        environment: { ...jestEnvironment, RELICARIO_TEST_COSTS: costsFile, ...environment },
        lowPriority,
      },
    );
    if (!existsSync(reportFile)) return { passed: 0, failed: 1, output };
    const report = Report.parse(JSON.parse(readFileSync(reportFile, "utf8")));
    return {
      ...toTestResult(
        report.numPassedTests,
        report.numFailedTests + report.numRuntimeErrorTestSuites,
        report.numPendingTests,
        code,
        output,
      ),
      files: readFileCosts(report, costsFile),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Lists test files by their paths from the root. */
export async function listJestFiles(args: readonly string[]): Promise<string[]> {
  const { code, output } = await run(getBinPath("jest"), ["--listTests", "--passWithNoTests", ...args], {
    environment: jestEnvironment,
  });
  if (code !== 0) throw new Error(`jest cannot list its tests:\n${output}`);
  return output
    .split("\n")
    .flatMap((line) => (line.startsWith(`${rootFolder}/`) ? [line.slice(rootFolder.length + 1)] : []));
}

/** Clock seconds of the report, processor seconds of tooling/jest/costs.cjs. */
function readFileCosts(report: z.infer<typeof Report>, costsFile: string): FileCost[] {
  const lines = existsSync(costsFile) ? readFileSync(costsFile, "utf8").trim().split("\n") : [];
  const processorSecondsByFile = new Map(
    lines.map((line) => Cost.parse(JSON.parse(line))).map(({ file, processorSeconds }) => [file, processorSeconds]),
  );
  return report.testResults.map(({ name, startTime, endTime }) => ({
    file: name.slice(rootFolder.length + 1),
    seconds: (endTime - startTime) / 1000,
    processorSeconds: processorSecondsByFile.get(name) ?? null,
  }));
}
