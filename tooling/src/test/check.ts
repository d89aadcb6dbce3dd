/**
 * `pnpm check [ref]`: lint, types and tests of what changed since `ref` (`HEAD` unless told):
 * seconds instead of minutes while working. What it lets through, `npm test` may still find.
 */
import { listChangedFiles } from "./changed-files.ts";
import { runJest } from "./jest.ts";
import { runLint } from "./lint.ts";
import { toResult, type StepResult } from "./result.ts";
import { runNode } from "./run.ts";

const [since = "HEAD"] = process.argv.slice(2);
const startedAt = performance.now();

const changed = await listChangedFiles(since);
const codeFiles = changed.filter((file) => /\.(ts|tsx|mjs|cjs)$/.test(file));
const textFiles = changed.filter((file) => file.includes("/src/locales/"));
if (codeFiles.length + textFiles.length === 0) {
  console.log(`No code or text changed since ${since}.`);
  process.exit();
}
console.log(`${String(codeFiles.length + textFiles.length)} files changed since ${since}.`);
if (
  textFiles.length > 0 &&
  !(await runCheck("texts", async () => toResult(await runNode(["tooling/src/checks/texts.ts"]))))
)
  process.exitCode = 1;
if (codeFiles.length === 0) process.exit();

const outcomes = await Promise.all([
  runCheck("lint", async () => toResult(await runLint(codeFiles))),
  (async () =>
    (await runCheck("types", async () => toResult(await runNode(["tooling/src/checks/types.ts"])))) &&
    (await runCheck("tests", () => runJest(["--passWithNoTests", "--findRelatedTests", ...codeFiles]))))(),
]);
if (!outcomes.every(Boolean)) process.exitCode = 1;
console.log(`In ${((performance.now() - startedAt) / 1000).toFixed(0)} s.`);

async function runCheck(label: string, task: () => Promise<StepResult>): Promise<boolean> {
  const startedAt = performance.now();
  const { failed, output } = await task();
  console.log(`${failed === 0 ? "✓" : "✗"} ${label} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
  if (failed > 0) console.log(`${output.trim()}\n`);
  return failed === 0;
}
