/**
 * `pnpm check [ref]`: lint, types and tests of what changed since `ref` (`HEAD` unless told): seconds instead of minutes while
 * working. What it lets through, `npm test` may still find.
 */
import { changedFiles } from "./changed-files.ts";
import { jest } from "./jest.ts";
import { asOne, type Result } from "./result.ts";
import { bin, run } from "./run.ts";
import { runStep } from "./step-process.ts";
import { steps } from "./steps.ts";

const [since = "HEAD"] = process.argv.slice(2);
const start = performance.now();

const code = (await changedFiles(since)).filter((file) => /\.(ts|tsx|mjs|cjs)$/.test(file));
if (code.length === 0) {
  console.log(`No code changed since ${since}.`);
  process.exit();
}
console.log(`${String(code.length)} files changed since ${since}.`);

const outcomes = await Promise.all([
  told("lint", async () => asOne(await run(bin("eslint"), ["--no-warn-ignored", "--cache", "--cache-location", ".cache/eslint/", ...code]))),
  (async () => (await told("types", types)) && (await told("tests", () => jest(["--passWithNoTests", "--findRelatedTests", ...code]))))(),
]);
process.exitCode = outcomes.every(Boolean) ? 0 : 1;
console.log(`In ${((performance.now() - start) / 1000).toFixed(0)} s.`);

/** Of all packages: what did not change is not looked at again. */
async function types(): Promise<Result> {
  const step = steps.find(({ name }) => name === "types");
  if (step === undefined) throw new TypeError("there is no step for types");
  const report = await runStep(step, { files: [], more: [], whole: false, reuse: true });
  return "step" in report ? report : { passed: 0, failed: 1, said: report.said };
}

async function told(what: string, work: () => Promise<Result>): Promise<boolean> {
  const from = performance.now();
  const { failed, said } = await work();
  console.log(`${failed === 0 ? "✓" : "✗"} ${what} (${((performance.now() - from) / 1000).toFixed(1)} s)`);
  if (failed > 0) console.log(`${said.trim()}\n`);
  return failed === 0;
}
