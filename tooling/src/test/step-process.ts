/** Runs each step in a process, to measure its cost; through wireit where it can be cached. */
import { join } from "node:path";

import { rootFolder } from "../paths.ts";
import { readReport, removeReport, type StepReport } from "./report.ts";
import { runNode, run } from "./run.ts";
import type { Step } from "./steps.ts";

/** Test files of a step, one per line; for wireit they are an input of the step. */
export const filesVariable = "RELICARIO_TEST_FILES";
/** `yes` when nothing may be left out. */
export const completeRunVariable = "RELICARIO_TEST_WHOLE";

export function getReportPath({ cached, name }: Step): string {
  return cached?.report ?? `.cache/test/${name}.json`;
}

interface StepRun {
  readonly files: readonly string[];
  readonly extraArguments: readonly string[];
  readonly isComplete: boolean;
  /** Skips the step when it passed with the same inputs. */
  readonly useCache: boolean;
}

/** Just the output when the step failed without a report. */
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

/** wireit prefers npm's variables for the name of the script to those of `node --run`. */
const withoutNpmVariables = {
  npm_lifecycle_event: undefined,
  npm_package_json: undefined,
  npm_config_user_agent: undefined,
  npm_execpath: undefined,
} as const;
