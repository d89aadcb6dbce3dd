/** What `npm test` does, in this order. Each line of its output is a sentence that holds. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { buildables, type Buildable } from "../bundle/packages.ts";
import { builtFiles, differences, rebuild } from "../bundle/rebuild.ts";
import { ensureBuilt } from "../bundle/ensure-built.ts";
import { rootFolder } from "../paths.ts";
import { packages } from "../remotes.ts";
import { chromiumVariable, findChromium } from "./chromium.ts";
import { keptReleases } from "./kept-releases.ts";
import { engineHash, engineWasTested, noteEngineTested } from "./engine-tested.ts";
import { node, run, type Outcome } from "./run.ts";

export interface Result {
  readonly passed: number;
  readonly failed: number;
  /** Shown when something failed. */
  readonly said: string;
  /** A remark behind the sentence. */
  readonly remark?: string;
}

export interface Step {
  /** Name for `npm test -- <group>`. */
  readonly group: "lint" | "types" | "checks" | "unit" | "engine" | "build" | "releases" | "e2e" | "session" | "attacks" | "neighbours" | "contention" | "faults";
  /** Too long for every time: runs when its group is named, or all are. */
  readonly onlyNamed?: true;
  /** Runs beside another such step, before all others. */
  readonly oneThread?: true;
  /** Runs while a step of this group does, which leaves the processors idle at times; by itself where there is none. */
  readonly beside?: "e2e";
  readonly sentence: string;
  readonly run: (asked: Asked) => Promise<Result>;
}

export interface Asked {
  /** What stands behind the group's name on the command line: files, say. */
  readonly more: readonly string[];
  /** Nothing is left out because it passed before, and what comes in rounds comes in all of them. */
  readonly whole: boolean;
  /** The step's group alone was asked for. */
  readonly named: boolean;
}

export const bin = (name: string): string => join(rootFolder, "node_modules/.bin", name);
const jestReport = join(rootFolder, ".cache/jest-results.json");
const e2eReport = join(rootFolder, ".cache/e2e-results.json");

/** Files of tests that kill processes: once in the usual run. */
const faultTests = ["--selectProjects", "service", "--", "api/src/main.test.ts", "api/src/uploads/crash.test.ts"];

/** In the titles of end-to-end tests that take minutes. */
const longTests = "@long";

const asOne = ({ code, said }: Outcome): Result => ({ passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, said });
const check = (script: string): Step["run"] => async () => asOne(await node([join("tooling/src/checks", script)]));

export const steps: readonly Step[] = [
  { group: "lint", oneThread: true, beside: "e2e", sentence: "The code keeps to its rules and boundaries", run: async ({ more }) => asOne(await run(bin("eslint"), more.length > 0 ? more : ["."], { modest: true })) },
  ...packages.map((name): Step => ({ group: "types", oneThread: true, sentence: `The types of ${name} hold`, run: async () => asOne(await typesOf(name)) })),
  { group: "checks", oneThread: true, sentence: "No file, export or dependency is left over", run: async () => asOne(await run(bin("knip"), ["--no-config-hints"])) },
  { group: "checks", oneThread: true, sentence: "No file imports itself in a circle", run: check("circles.ts") },
  { group: "checks", oneThread: true, sentence: "Every version stands once", run: check("versions.ts") },
  { group: "checks", oneThread: true, sentence: "What the host shares is all that the shared packages export", run: check("surface.ts") },
  { group: "checks", oneThread: true, sentence: "Every text is used and exists in both languages", run: check("texts.ts") },
  { group: "checks", oneThread: true, sentence: "Every fact that is called done names a test that exists", run: check("coverage.ts") },
  { group: "unit", sentence: "Units and the service do what their tests say", run: ({ more, whole }) => jest(more.length > 0 ? more : ["--ignoreProjects", "engine"], whole) },
  { group: "engine", sentence: "The image engine gives the published bits", run: engine },
  { group: "build", sentence: "Host and remotes build", run: build },
  { group: "build", sentence: "The same sources give the same bytes in another folder", run: ({ whole }) => rebuiltAlike(whole ? buildables : ["host", "settings"]) },
  { group: "build", sentence: "Each bundle holds only what belongs there", run: check("bundles.ts") },
  { group: "build", sentence: "What browsers download stays within its budget", run: async () => asOne(await run(bin("size-limit"), [])) },
  { group: "releases", oneThread: true, beside: "e2e", sentence: "Every release that is kept keeps to the contract in this host", run: releasesConform },
  { group: "e2e", sentence: "People can do what we promise, in a real browser", run: ({ more, whole }) => playwright([...(whole || more.length > 0 ? [] : ["--grep-invert", longTests]), ...more], whole) }, // who names a file means all of it
  { group: "session", onlyNamed: true, sentence: "A page left open stays signed in, in a real browser", run: session },
  { group: "attacks", onlyNamed: true, sentence: "Attackers of the page do not get what they want, in Chromium and in Firefox", run: attacks },
  { group: "neighbours", onlyNamed: true, sentence: "Whatever one account does, others are served", run: ({ more }) => onStand("neighbours", more) },
  { group: "contention", onlyNamed: true, sentence: "However many come at once, a share has as many views as it has, and a request one answer", run: ({ more }) => onStand("contention", more) },
  { group: "faults", onlyNamed: true, sentence: "A service that is killed at any moment loses nothing, many times over", run: () => jest(faultTests, true) },
  { group: "faults", onlyNamed: true, sentence: "Killing services, gateway and database at random loses nothing that was acknowledged", run: ({ more }) => onStand("kills", more) },
];

/** Read by tests that come in rounds. */
const extent = (whole: boolean): Readonly<Record<string, string>> => (whole ? { RELICARIO_TESTS: "all" } : {});

/** What was found the last time is kept, so that only what changed is looked at again. */
export const typesOf = (name: string): Promise<Outcome> => run(bin("tsc"), ["-p", join(name, "tsconfig.json"), "--incremental", "--tsBuildInfoFile", `.cache/types/${name.replaceAll("/", "-")}.tsbuildinfo`]);

async function build(): Promise<Result> {
  const lines: string[] = [];
  try {
    await ensureBuilt((line) => lines.push(line), buildables);
    return { passed: 1, failed: 0, said: lines.join("\n") };
  } catch (error) {
    return { passed: 0, failed: 1, said: error instanceof Error ? error.message : String(error) };
  }
}

async function rebuiltAlike(names: readonly Buildable[]): Promise<Result> {
  try {
    const differing = [...(await rebuild(names))].flatMap(([name, found]) => differences(builtFiles(name), found).map((line) => `${name}: ${line}`));
    return { passed: differing.length === 0 ? 1 : 0, failed: differing.length === 0 ? 0 : 1, said: differing.join("\n") };
  } catch (error) {
    return { passed: 0, failed: 1, said: error instanceof Error ? error.message : String(error) };
  }
}

const JestReport = z.object({
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  numPendingTests: z.int(),
  /** Files that failed before any of their tests ran. */
  numRuntimeErrorTestSuites: z.int(),
});

export const jestEnvironment = { NODE_OPTIONS: "--experimental-vm-modules --disable-warning=ExperimentalWarning" } as const;

async function jest(more: readonly string[], whole: boolean): Promise<Result> {
  rmSync(jestReport, { force: true });
  const { code, said } = await run(bin("jest"), ["--maxWorkers=2", "--json", `--outputFile=${jestReport}`, "--reporters=default", ...more], {
    environment: { ...jestEnvironment, ...extent(whole) },
  });
  if (!existsSync(jestReport)) return { passed: 0, failed: 1, said };
  const report = JestReport.parse(JSON.parse(readFileSync(jestReport, "utf8")));
  return counted(report.numPassedTests, report.numFailedTests + report.numRuntimeErrorTestSuites, report.numPendingTests, code, said);
}

/** One after the other, each in a page of its own. */
async function releasesConform(): Promise<Result> {
  const built = await build();
  if (built.failed > 0) return built;
  const outcomes = [];
  const { folders, refused } = keptReleases();
  for (const [release, folder] of folders) outcomes.push({ release, ...(await run(bin("jest"), ["--config", "tooling/jest/released.cjs", "--rootDir", ".", "--runInBand"], { environment: { ...jestEnvironment, RELICARIO_RELEASE: folder }, modest: true })) });
  const failed = outcomes.filter(({ code }) => code !== 0);
  return { passed: outcomes.length - failed.length, failed: failed.length, said: failed.map(({ release, said }) => `${release}\n${said}`).join("\n"), remark: [`${String(outcomes.length)} releases`, ...(refused.length > 0 ? [`refused for their contract: ${refused.join(", ")}`] : [])].join("; ") };
}

async function engine({ more, whole, named }: Asked): Promise<Result> {
  if (!whole && !named && engineWasTested()) return { passed: 1, failed: 0, said: "", remark: "unchanged since its tests passed" };
  const sha256 = engineHash();
  const result = await jest(["--selectProjects", "engine", "--", ...more], true);
  if (result.failed === 0 && more.length === 0) noteEngineTested(sha256);
  return result;
}

const PlaywrightReport = z.object({ stats: z.object({ expected: z.int(), unexpected: z.int(), flaky: z.int(), skipped: z.int() }) });

async function playwright(more: readonly string[], whole: boolean, config = "playwright.config.ts"): Promise<Result> {
  const browser = await findChromium();
  if ("advice" in browser) return { passed: 0, failed: 1, said: browser.advice };
  rmSync(e2eReport, { force: true });
  const { code, said } = await run(join(rootFolder, "e2e/node_modules/.bin/playwright"), ["test", "--config", `e2e/${config}`, ...more], {
    environment: { [chromiumVariable]: browser.program, CI: "true", ...extent(whole) },
  });
  if (!existsSync(e2eReport)) return { passed: 0, failed: 1, said };
  const { stats } = PlaywrightReport.parse(JSON.parse(readFileSync(e2eReport, "utf8")));
  return counted(stats.expected, stats.unexpected + stats.flaky, stats.skipped, code, said);
}

/** Built first: what starts a portal for a test has no time for it. */
async function session({ more }: Asked): Promise<Result> {
  const built = await build();
  return built.failed > 0 ? built : playwright(["specs/session", ...more], true);
}

/** Firefox is found by the tests themselves; where there is none, they fail and say what to install. */
async function attacks({ more }: Asked): Promise<Result> {
  const built = await build();
  return built.failed > 0 ? built : playwright(more, true, "attacks.config.ts");
}

/** What runs on a small deployment of real processes, and shows what it finds as it goes. */
const onStand = async (name: "contention" | "kills" | "neighbours", more: readonly string[]): Promise<Result> => asOne(await node([join("api/src/testing/neighbours", `${name}.ts`), ...more], { show: true }));

/** A runner that failed without a failed test (nothing found, say, or a fault at its end) counts as one failure. */
export function counted(passed: number, failed: number, skipped: number, code: number, said: string): Result {
  const all = failed === 0 && (code !== 0 || passed === 0) ? 1 : failed;
  const remark = `${String(passed)} passed${skipped > 0 ? `, ${String(skipped)} skipped` : ""}`;
  return { passed, failed: all, said, remark };
}
