/**
 * `pnpm check [ref]`: lint, types and tests of what changed since `ref` (`HEAD` unless told):
 * seconds instead of minutes while working. What it lets through, `npm test` may still find.
 */
import { changedFiles } from "./changed-files.ts";
import { jest } from "./jest.ts";
import { lint } from "./lint.ts";
import { asOne, type Result } from "./result.ts";
import { node } from "./run.ts";

const [since = "HEAD"] = process.argv.slice(2);
const start = performance.now();

const changed = await changedFiles(since);
const code = changed.filter((file) => /\.(ts|tsx|mjs|cjs)$/.test(file));
const texts = changed.filter((file) => file.includes("/src/locales/"));
if (code.length + texts.length === 0) {
  console.log(`No code or text changed since ${since}.`);
  process.exit();
}
console.log(`${String(code.length + texts.length)} files changed since ${since}.`);
if (texts.length > 0 && !(await told("texts", async () => asOne(await node(["tooling/src/checks/texts.ts"])))))
  process.exitCode = 1;
if (code.length === 0) process.exit();

const outcomes = await Promise.all([
  told("lint", async () => asOne(await lint(code))),
  (async () =>
    (await told("types", async () => asOne(await node(["tooling/src/checks/types.ts"])))) &&
    (await told("tests", () => jest(["--passWithNoTests", "--findRelatedTests", ...code]))))(),
]);
if (!outcomes.every(Boolean)) process.exitCode = 1;
console.log(`In ${((performance.now() - start) / 1000).toFixed(0)} s.`);

async function told(what: string, work: () => Promise<Result>): Promise<boolean> {
  const from = performance.now();
  const { failed, said } = await work();
  console.log(`${failed === 0 ? "✓" : "✗"} ${what} (${((performance.now() - from) / 1000).toFixed(1)} s)`);
  if (failed > 0) console.log(`${said.trim()}\n`);
  return failed === 0;
}
