/**
 * `pnpm check [ref]`: lint, types and tests of what changed since `ref` (`HEAD` unless told): seconds instead of minutes while
 * working. What it lets through, `npm test` may still find.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";
import { packages } from "../remotes.ts";
import { run, type Outcome } from "./run.ts";
import { bin, jestEnvironment, typesOf } from "./steps.ts";

const [since = "HEAD"] = process.argv.slice(2);
const began = performance.now();

const changed = (await Promise.all([git(["diff", "--name-only", "--diff-filter=d", since]), git(["ls-files", "--others", "--exclude-standard"])])).flat();
const code = changed.filter((file) => /\.(ts|tsx|mjs|cjs)$/.test(file) && existsSync(join(rootFolder, file)));
if (code.length === 0) {
  console.log(`No code changed since ${since}.`);
  process.exit();
}
console.log(`${String(code.length)} files changed since ${since}.`);

/** All packages of an area are checked together, and all of the portal against `shared`. */
const touched = packages.filter((name) => code.some((file) => areaOf(file) === areaOf(name) || areaOf(file) === "shared"));
const outcomes = await Promise.all([
  told("lint", () => run(bin("eslint"), ["--no-warn-ignored", "--cache", "--cache-location", ".cache/eslint/", ...code])),
  (async () => {
    for (const name of touched) if (!(await told(`types of ${name}`, () => typesOf(name)))) return false;
    return told("tests", () => run(bin("jest"), ["--maxWorkers=2", "--passWithNoTests", "--findRelatedTests", ...code], { environment: jestEnvironment }));
  })(),
]);
process.exitCode = outcomes.every(Boolean) ? 0 : 1;
console.log(`In ${((performance.now() - began) / 1000).toFixed(0)} s.`);

function areaOf(path: string): string | undefined {
  return path.split("/")[0];
}

async function told(what: string, work: () => Promise<Outcome>): Promise<boolean> {
  const from = performance.now();
  const outcome = await work();
  console.log(`${outcome.code === 0 ? "✓" : "✗"} ${what} (${((performance.now() - from) / 1000).toFixed(1)} s)`);
  if (outcome.code !== 0) console.log(`${outcome.said.trim()}\n`);
  return outcome.code === 0;
}

async function git(args: readonly string[]): Promise<string[]> {
  const { code: exit, said } = await run("git", args);
  if (exit !== 0) {
    console.error(said.trim());
    process.exit(2);
  }
  return said.split("\n").filter((line) => line !== "");
}
