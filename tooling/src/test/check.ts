/**
 * `pnpm check [ref]`: lint, types and tests of what changed since `ref` (default `HEAD`). `npm
 * test` may still find more.
 */
import { listChangedFiles } from "./changed-files.ts";
import { runJest } from "./jest.ts";
import { runLint } from "./lint.ts";
import { toStepResult, type StepResult } from "./result.ts";
import { runNode } from "./run.ts";

const [since = "HEAD"] = process.argv.slice(2);
const startedAt = performance.now();

const changedFiles = await listChangedFiles(since);
const codeFiles = changedFiles.filter((file) => /\.(ts|tsx|mjs|cjs)$/.test(file));
const textFiles = changedFiles.filter((file) => file.includes("/src/locales/"));
const markdownFiles = changedFiles.filter((file) => file.endsWith(".md"));
const relevantCount = codeFiles.length + textFiles.length + markdownFiles.length;
if (relevantCount === 0) {
  console.log(`No code, text or Markdown changed since ${since}.`);
  process.exit();
}
console.log(`${String(relevantCount)} files changed since ${since}.`);
// When code changed, lint checks the links.
if (
  codeFiles.length === 0 &&
  markdownFiles.length > 0 &&
  !(await runCheck("links", async () => toStepResult(await runNode(["tooling/src/checks/links.ts"]))))
)
  process.exitCode = 1;
if (
  textFiles.length > 0 &&
  !(await runCheck("texts", async () => toStepResult(await runNode(["tooling/src/checks/texts.ts"]))))
)
  process.exitCode = 1;
if (codeFiles.length === 0) process.exit();

const outcomes = await Promise.all([
  runCheck("lint", async () => toStepResult(await runLint(codeFiles))),
  (async () =>
    (await runCheck("types", async () => toStepResult(await runNode(["tooling/src/checks/types.ts"])))) &&
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
