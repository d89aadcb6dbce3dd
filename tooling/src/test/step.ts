/**
 * `node step.ts <name> [more]`: runs one step and writes its report. `unit` is the step of the
 * package in whose folder it runs.
 */
import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { relative } from "node:path";

import { rootFolder } from "../paths.ts";
import { writeReport } from "./report.ts";
import type { StepResult } from "./result.ts";
import { run } from "./run.ts";
import { filesVariable, getReportPath, completeRunVariable } from "./step-process.ts";
import { steps, getUnitStepName } from "./steps.ts";

const [requestedStep, ...extraArguments] = process.argv.slice(2);
const name = requestedStep === "unit" ? getUnitStepName(relative(rootFolder, process.cwd())) : requestedStep;
const step = steps.find((candidate) => candidate.name === name);
if (step === undefined) {
  console.error(`There is no step "${String(name)}": ${steps.map((candidate) => candidate.name).join(", ")}.`);
  process.exit(2);
}

const start = performance.now();
const [load = 0] = loadavg();
const files = (process.env[filesVariable] ?? "").split("\n").filter((file) => file !== "");
const {
  files: fileCosts = [],
  output,
  ...result
} = await step
  .run({ files, extraArguments, isComplete: process.env[completeRunVariable] === "yes" })
  .catch(toFailedResult);
const { output: commit } = await run("git", ["rev-parse", "HEAD"]);
writeReport(getReportPath(step), {
  ...result,
  step: step.name,
  output: result.failed > 0 ? output : "",
  at: Date.now(),
  commit: commit.trim(),
  seconds: (performance.now() - start) / 1000,
  processorSeconds: readProcessorSeconds(),
  load,
  files: [...fileCosts],
});
process.exitCode = result.failed === 0 ? 0 : 1;

function toFailedResult(error: unknown): StepResult {
  return { passed: 0, failed: 1, output: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

/**
 * With ended children (proc_pid_stat(5): utime, stime, cutime, cstime, in hundredths of a second).
 */
function readProcessorSeconds(): number | null {
  if (process.platform !== "linux") return null;
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / 100;
}
