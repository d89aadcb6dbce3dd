/**
 * `node step.ts <name> [more]`: runs one step of the test commands and leaves a report of how it
 * ended and what it cost. The name `unit` means the units of the package in whose folder it is
 * called.
 */
import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { relative } from "node:path";

import { rootFolder } from "../paths.ts";
import { writeReport } from "./report.ts";
import type { Result } from "./result.ts";
import { run } from "./run.ts";
import { filesVariable, reportOf, wholeVariable } from "./step-process.ts";
import { steps, unitsName } from "./steps.ts";

const [asked, ...more] = process.argv.slice(2);
const name = asked === "unit" ? unitsName(relative(rootFolder, process.cwd())) : asked;
const step = steps.find((one) => one.name === name);
if (step === undefined) {
  console.error(`There is no step "${String(name)}": ${steps.map((one) => one.name).join(", ")}.`);
  process.exit(2);
}

const start = performance.now();
const [load = 0] = loadavg();
const files = (process.env[filesVariable] ?? "").split("\n").filter((file) => file !== "");
const {
  files: costs = [],
  said,
  ...result
} = await step.run({ files, more, whole: process.env[wholeVariable] === "yes" }).catch(failureOf);
const { said: commit } = await run("git", ["rev-parse", "HEAD"]);
writeReport(reportOf(step), {
  ...result,
  step: step.name,
  said: result.failed > 0 ? said : "",
  at: Date.now(),
  commit: commit.trim(),
  seconds: (performance.now() - start) / 1000,
  processorSeconds: processorSeconds(),
  load,
  files: [...costs],
});
process.exitCode = result.failed === 0 ? 0 : 1;

function failureOf(error: unknown): Result {
  return { passed: 0, failed: 1, said: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

/**
 * Of this process and of all that it waited for (proc_pid_stat(5): utime, stime, cutime, cstime, in
 * hundredths of a second).
 */
function processorSeconds(): number | null {
  if (process.platform !== "linux") return null;
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / 100;
}
