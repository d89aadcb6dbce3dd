/** What the test commands do. Each line of their output is a sentence that holds. */
import { join } from "node:path";

import { hashBuiltFiles, describeDifferences, rebuild } from "../bundle/rebuild.ts";
import { ensureBuilt } from "../bundle/ensure-built.ts";
import { buildables, type Buildable } from "../bundle/packages.ts";
import { rootFolder } from "../paths.ts";
import { findPackageFolder, packageFolders } from "../remotes.ts";
import { runJest } from "./jest.ts";
import { runLint } from "./lint.ts";
import { findRetainedReleases } from "./retained-releases.ts";
import { runPlaywright } from "./playwright.ts";
import { toResult, mergeResults, type StepResult } from "./result.ts";
import { getBinPath, runNode, run, type ProcessResult } from "./run.ts";
import type { TestFiles, TierName } from "./tiers.ts";

export interface Step {
  /** Of its report, and of `node tooling/src/test/step.ts <name>`. */
  readonly name: string;
  /** Name for `npm test -- <group>`. */
  readonly group:
    | "lint"
    | "lint-typed"
    | "types"
    | "checks"
    | "unit"
    | "build"
    | "releases"
    | "e2e"
    | "session"
    | "attacks"
    | "neighbours"
    | "contention"
    | "faults";
  /** Empty: runs when its group is named, or all are. */
  readonly tiers: readonly TierName[];
  readonly sentence: string;
  /** Stands for the others of its group when that is named, and for none otherwise. */
  readonly replacesGroup?: true;
  /** Uses the whole machine; others run two at a time, before those. */
  readonly exclusive?: true;
  /**
   * Runs while a step of this group does, which leaves the processors idle at times; with the
   * others where there is none.
   */
  readonly runsAlongside?: "e2e";
  /** The test files of a tier that it runs; a step without any in a tier does not run there. */
  readonly files?: (tier: TestFiles) => readonly string[];
  /**
   * Passed over while its inputs have not changed: folder and script for wireit, and the report
   * that the script leaves behind, from the root.
   */
  readonly cached?: { readonly folder: string; readonly script: string; readonly report: string };
  readonly run: (input: StepInput) => Promise<StepResult>;
}

interface StepInput {
  /** Of the tier that runs; empty when the step's group is named. */
  readonly files: readonly string[];
  /** What stands behind the group's name on the command line: files, say. */
  readonly extraArguments: readonly string[];
  /** Nothing is left out, and what comes in rounds comes in all of them. */
  readonly isComplete: boolean;
}

/** In the titles of stories that take minutes. */
const longStoryTag = "@long";

const createCheckRunner = (script: string) => (): Promise<ProcessResult> =>
  runNode([join("tooling/src/checks", script)]);

const checkScripts: readonly { readonly sentence: string; readonly execute: () => Promise<ProcessResult> }[] = [
  {
    sentence: "No file, export or dependency is left over",
    execute: () => run(getBinPath("knip"), ["--no-config-hints"]),
  },
  { sentence: "No file and no folder imports itself in a circle", execute: createCheckRunner("cycles.ts") },
  { sentence: "Every version stands once", execute: createCheckRunner("versions.ts") },
  { sentence: "What the host shares is all that the shared packages export", execute: createCheckRunner("surface.ts") },
  { sentence: "Every text is used and exists in both languages", execute: createCheckRunner("texts.ts") },
  {
    sentence: "Every fact that is called done names a test that exists, and every test file is in one tier",
    execute: createCheckRunner("coverage.ts"),
  },
];

const createRootCache = (name: string): NonNullable<Step["cached"]> => ({
  folder: "",
  script: `step:${name}`,
  report: `.cache/test/${name}.json`,
});

export const steps: readonly Step[] = [
  {
    name: "types",
    group: "types",
    tiers: ["first"],
    sentence: "The types of all packages hold",
    cached: createRootCache("types"),
    run: async () => toResult(await createCheckRunner("types.ts")()),
  },
  {
    name: "lint",
    group: "lint",
    tiers: ["first"],
    sentence: "The code keeps to its rules and boundaries",
    cached: createRootCache("lint"),
    run: async ({ extraArguments }) => toResult(await runLint(extraArguments)),
  },
  {
    name: "lint-typed",
    group: "lint-typed",
    tiers: ["second"],
    sentence: "The code keeps to the one rule that only ESLint with types has",
    cached: createRootCache("lint-typed"),
    run: async () => toResult(await run(getBinPath("eslint"), ["--config", "eslint.typed.config.mjs", "."])),
  },
  {
    name: "checks",
    group: "checks",
    tiers: ["first"],
    sentence: "Nothing is left over, in a circle, there twice, without its text or without its test",
    cached: createRootCache("checks"),
    run: runChecks,
  },
  ...packageFolders.map(createUnitStep),
  {
    name: "units",
    group: "unit",
    tiers: [],
    replacesGroup: true,
    exclusive: true,
    sentence: "Units and the service do what their tests say",
    run: ({ extraArguments }) => runJest(extraArguments),
  },
  {
    name: "build",
    group: "build",
    tiers: ["first", "second"],
    exclusive: true,
    sentence: "Host and remotes build, hold only what belongs there, and stay within their budgets",
    cached: createRootCache("build"),
    run: runBuild,
  },
  {
    name: "rebuild",
    group: "build",
    tiers: ["second"],
    exclusive: true,
    sentence: "The same sources give the same bytes in another folder",
    cached: createRootCache("rebuild"),
    run: ({ isComplete }) => compareRebuild(isComplete ? buildables : ["host", "settings"]),
  },
  {
    name: "releases",
    group: "releases",
    tiers: ["second"],
    runsAlongside: "e2e",
    sentence: "Every release that is kept keeps to the contract in this host",
    run: checkReleases,
  },
  {
    name: "stories",
    group: "e2e",
    tiers: ["first", "second"],
    exclusive: true,
    sentence: "People can do what we promise, in a real browser",
    files: ({ stories }) => stories,
    cached: createRootCache("stories"),
    run: runStories,
  },
  {
    name: "session",
    group: "session",
    tiers: [],
    exclusive: true,
    sentence: "A page left open stays signed in, in a real browser",
    run: ({ extraArguments }) =>
      runAfterBuild(() => runPlaywright(["specs/session", ...extraArguments], undefined, allRoundsEnvironment)),
  },
  {
    name: "attacks",
    group: "attacks",
    tiers: [],
    exclusive: true,
    sentence: "Attackers of the page do not get what they want, in Chromium and in Firefox",
    run: ({ extraArguments }) =>
      runAfterBuild(() => runPlaywright(extraArguments, "attacks.config.ts", allRoundsEnvironment)),
  },
  {
    name: "neighbours",
    group: "neighbours",
    tiers: [],
    exclusive: true,
    sentence: "Whatever one account does, others are served",
    run: ({ extraArguments }) => runOnTestDeployment("neighbours", extraArguments),
  },
  {
    name: "contention",
    group: "contention",
    tiers: [],
    exclusive: true,
    sentence: "However many come at once, a share has as many views as it has, and a request one answer",
    run: ({ extraArguments }) => runOnTestDeployment("contention", extraArguments),
  },
  {
    name: "kills",
    group: "faults",
    tiers: [],
    exclusive: true,
    sentence: "Killing services, gateway and database at random loses nothing that was acknowledged",
    run: ({ extraArguments }) => runOnTestDeployment("kills", extraArguments),
  },
];

/** Read by tests that come in rounds. */
const allRoundsEnvironment = { RELICARIO_TESTS: "all" } as const;

/** Name of the step that runs the units of a package. */
export function getUnitStepName(folder: string): string {
  return `unit-${folder.replaceAll("/", "-")}`;
}

/** Those of a package, without its packages inside. One worker: another step runs beside it. */
function createUnitStep(folder: string): Step {
  return {
    name: getUnitStepName(folder),
    group: "unit",
    tiers: ["first", "second"],
    sentence: `The units of ${folder} do what their tests say`,
    files: ({ units }) => units.filter((file) => findPackageFolder(file) === folder),
    cached: { folder, script: "unit", report: `${folder}/build/unit.json` },
    run: async ({ files }) => {
      const result = await runJest(["--selectProjects", folder, "--runTestsByPath", ...files], { workers: 1 });
      const missing =
        result.files === undefined
          ? []
          : files.filter((file) => !result.files?.some((fileCost) => fileCost.file === file));
      return missing.length === 0
        ? result
        : {
            ...result,
            failed: result.failed + missing.length,
            output: `${result.output}\nNo project of jest.config.cjs runs ${missing.join(", ")}.`,
          };
    },
  };
}

/** One after the other; what failed is named by its sentence. */
async function runChecks(): Promise<StepResult> {
  const results: StepResult[] = [];
  for (const { sentence, execute } of checkScripts) {
    const { code, output } = await execute();
    results.push(toResult({ code, output: `✗ ${sentence}\n${output}` }));
  }
  return { ...mergeResults(results), remark: `${String(results.length)} checks` };
}

function runBuild(): Promise<StepResult> {
  return runAfterBuild(async () =>
    mergeResults([
      { passed: 1, failed: 0, output: "" },
      toResult(await createCheckRunner("bundles.ts")()),
      toResult(await run(getBinPath("size-limit"), [])),
    ]),
  );
}

/** What starts a portal for a test has no time to build it. */
async function runAfterBuild(task: () => Promise<StepResult>): Promise<StepResult> {
  await ensureBuilt(() => undefined, buildables);
  return task();
}

async function compareRebuild(names: readonly Buildable[]): Promise<StepResult> {
  const problems = [...(await rebuild(names))].flatMap(([name, rebuiltFiles]) =>
    describeDifferences(hashBuiltFiles(name), rebuiltFiles).map((line) => `${name}: ${line}`),
  );
  return { passed: problems.length === 0 ? 1 : 0, failed: problems.length === 0 ? 0 : 1, output: problems.join("\n") };
}

/** One after the other, each in a page of its own. */
function checkReleases(): Promise<StepResult> {
  return runAfterBuild(async () => {
    const { folders, incompatible } = findRetainedReleases();
    const results: StepResult[] = [];
    for (const [release, folder] of folders) {
      const { failed, output } = await runJest(["--config", "tooling/jest/released.cjs", "--rootDir", rootFolder], {
        workers: 1,
        environment: { RELICARIO_RELEASE: folder },
        lowPriority: true,
      });
      results.push(toResult({ code: failed, output: `${release}\n${output}` }));
    }
    return {
      ...mergeResults(results),
      remark: [
        `${String(results.length)} releases`,
        ...(incompatible.length > 0 ? [`refused for their contract: ${incompatible.join(", ")}`] : []),
      ].join("; "),
    };
  });
}

/** Who names a file means all of it. */
function runStories({ files, extraArguments, isComplete }: StepInput): Promise<StepResult> {
  const hasSelection = extraArguments.length > 0;
  const selected = hasSelection ? extraArguments : files.map((file) => file.replace(/^e2e\//, ""));
  return runAfterBuild(() =>
    runPlaywright(
      [...(isComplete || hasSelection ? [] : ["--grep-invert", longStoryTag]), ...selected],
      undefined,
      isComplete ? allRoundsEnvironment : {},
    ),
  );
}

/** What runs on a small deployment of real processes, and shows what it finds as it goes. */
const runOnTestDeployment = async (
  name: "contention" | "kills" | "neighbours",
  extraArguments: readonly string[],
): Promise<StepResult> =>
  toResult(await runNode([join("api/src/testing/neighbours", `${name}.ts`), ...extraArguments], { showOutput: true }));
