import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { counted, type FileCost, type Result } from "./result.ts";
import { bin, run } from "./run.ts";

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

interface JestRun {
  readonly workers?: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly modest?: boolean;
}

/**
 * Runs jest. A worker is replaced when a file leaves it with more than 700 MB: with
 * `--experimental-vm-modules` it gives nothing back.
 */
export async function jest(
  args: readonly string[],
  { workers = 2, environment = {}, modest = false }: JestRun = {},
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "jest-"));
  const [reportFile, costs] = [join(folder, "report.json"), join(folder, "costs.jsonl")];
  try {
    const { code, said } = await run(
      bin("jest"),
      [
        `--maxWorkers=${String(workers)}`,
        "--workerIdleMemoryLimit=700MB",
        "--reporters=default",
        "--json",
        `--outputFile=${reportFile}`,
        ...args,
      ],
      {
        environment: { ...jestEnvironment, RELICARIO_TEST_COSTS: costs, ...environment },
        modest,
      },
    );
    if (!existsSync(reportFile)) return { passed: 0, failed: 1, said };
    const report = Report.parse(JSON.parse(readFileSync(reportFile, "utf8")));
    return {
      ...counted(
        report.numPassedTests,
        report.numFailedTests + report.numRuntimeErrorTestSuites,
        report.numPendingTests,
        code,
        said,
      ),
      files: costsOf(report, costs),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Test files that jest names for these arguments, from the root. */
export async function jestFiles(args: readonly string[]): Promise<string[]> {
  const { code, said } = await run(bin("jest"), ["--listTests", "--passWithNoTests", ...args], {
    environment: jestEnvironment,
  });
  if (code !== 0) throw new Error(`jest cannot list its tests:\n${said}`);
  return said
    .split("\n")
    .flatMap((line) => (line.startsWith(`${rootFolder}/`) ? [line.slice(rootFolder.length + 1)] : []));
}

/** By the report, with what tooling/jest/costs.cjs noted. */
function costsOf(report: z.infer<typeof Report>, costs: string): FileCost[] {
  const lines = existsSync(costs) ? readFileSync(costs, "utf8").trim().split("\n") : [];
  const processor = new Map(
    lines.map((line) => Cost.parse(JSON.parse(line))).map(({ file, processorSeconds }) => [file, processorSeconds]),
  );
  return report.testResults.map(({ name, startTime, endTime }) => ({
    file: name.slice(rootFolder.length + 1),
    seconds: (endTime - startTime) / 1000,
    processorSeconds: processor.get(name) ?? null,
  }));
}
