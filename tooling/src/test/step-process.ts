/**
 * Runs a step in a process of its own, so that what it costs is known; through wireit where it may
 * be passed over.
 */
import { join } from "node:path";

import { rootFolder } from "../paths.ts";
import { readReport, removeReport, type StepReport } from "./report.ts";
import { runNode, run } from "./run.ts";
import type { Step } from "./steps.ts";

/** The test files that a step runs, a line each. wireit counts it among the step's inputs. */
export const filesVariable = "RELICARIO_TEST_FILES";
/** `yes` when nothing is left out. */
export const completeRunVariable = "RELICARIO_TEST_WHOLE";

/** Where a step's report lies, from the root. */
export function getReportPath({ cached, name }: Step): string {
  return cached?.report ?? `.cache/test/${name}.json`;
}

interface StepRun {
  readonly files: readonly string[];
  readonly extraArguments: readonly string[];
  readonly isComplete: boolean;
  /** Passes over the step when it passed with the same inputs before. */
  readonly useCache: boolean;
}

/** A step that ends without a report failed. */
export async function runStep(
  step: Step,
  { files, extraArguments, isComplete, useCache }: StepRun,
): Promise<StepReport | { readonly output: string }> {
  const environment = { [filesVariable]: files.join("\n"), [completeRunVariable]: isComplete ? "yes" : "no" };
  removeReport(getReportPath(step));
  const outcome =
    useCache && step.cached !== undefined
      ? await run(process.execPath, ["--run", step.cached.script], {
          folder: join(rootFolder, step.cached.folder),
          environment: { ...environment, ...withoutNpmVariables },
        })
      : await runNode([join(import.meta.dirname, "step.ts"), step.name, ...extraArguments], {
          environment,
          showOutput: step.tiers.length === 0,
        });
  return readReport(getReportPath(step)) ?? outcome;
}

/** wireit takes the script's name from npm's variables before those of `node --run`. */
const withoutNpmVariables = {
  npm_lifecycle_event: undefined,
  npm_package_json: undefined,
  npm_config_user_agent: undefined,
  npm_execpath: undefined,
} as const;
