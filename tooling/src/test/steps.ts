/** What the test commands do. Each line of their output is a sentence that holds. */
import { join } from "node:path";

import { builtFiles, differences, rebuild } from "../bundle/rebuild.ts";
import { ensureBuilt } from "../bundle/ensure-built.ts";
import { buildables, type Buildable } from "../bundle/packages.ts";
import { rootFolder } from "../paths.ts";
import { packageOf, packages } from "../remotes.ts";
import { jest } from "./jest.ts";
import { lint } from "./lint.ts";
import { keptReleases } from "./kept-releases.ts";
import { playwright } from "./playwright.ts";
import { asOne, together, type Result } from "./result.ts";
import { bin, node, run, type Outcome } from "./run.ts";
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
  readonly instead?: true;
  /** Uses the whole machine; others run two at a time, before those. */
  readonly wide?: true;
  /**
   * Runs while a step of this group does, which leaves the processors idle at times; with the
   * others where there is none.
   */
  readonly beside?: "e2e";
  /** The test files of a tier that it runs; a step without any in a tier does not run there. */
  readonly files?: (tier: TestFiles) => readonly string[];
  /**
   * Passed over while its inputs have not changed: folder and script for wireit, and the report
   * that the script leaves behind, from the root.
   */
  readonly cached?: { readonly folder: string; readonly script: string; readonly report: string };
  readonly run: (asked: Asked) => Promise<Result>;
}

export interface Asked {
  /** Of the tier that runs; empty when the step's group is named. */
  readonly files: readonly string[];
  /** What stands behind the group's name on the command line: files, say. */
  readonly more: readonly string[];
  /** Nothing is left out, and what comes in rounds comes in all of them. */
  readonly whole: boolean;
}

/** In the titles of stories that take minutes. */
const longStories = "@long";

const check = (script: string) => (): Promise<Outcome> => node([join("tooling/src/checks", script)]);

const checkList: readonly { readonly sentence: string; readonly work: () => Promise<Outcome> }[] = [
  { sentence: "No file, export or dependency is left over", work: () => run(bin("knip"), ["--no-config-hints"]) },
  { sentence: "No file imports itself in a circle", work: check("circles.ts") },
  { sentence: "Every version stands once", work: check("versions.ts") },
  { sentence: "What the host shares is all that the shared packages export", work: check("surface.ts") },
  { sentence: "Every text is used and exists in both languages", work: check("texts.ts") },
  {
    sentence: "Every fact that is called done names a test that exists, and every test file is in one tier",
    work: check("coverage.ts"),
  },
];

const ofRoot = (name: string): NonNullable<Step["cached"]> => ({
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
    cached: ofRoot("types"),
    run: async () => asOne(await check("types.ts")()),
  },
  {
    name: "lint",
    group: "lint",
    tiers: ["first"],
    sentence: "The code keeps to its rules and boundaries",
    cached: ofRoot("lint"),
    run: async ({ more }) => asOne(await lint(more)),
  },
  {
    name: "lint-typed",
    group: "lint-typed",
    tiers: ["second"],
    sentence: "The code keeps to the one rule that only ESLint with types has",
    cached: ofRoot("lint-typed"),
    run: async () => asOne(await run(bin("eslint"), ["--config", "eslint.typed.config.mjs", "."])),
  },
  {
    name: "checks",
    group: "checks",
    tiers: ["first"],
    sentence: "Nothing is left over, in a circle, there twice, without its text or without its test",
    cached: ofRoot("checks"),
    run: checks,
  },
  ...packages.map(unitsOf),
  {
    name: "units",
    group: "unit",
    tiers: [],
    instead: true,
    wide: true,
    sentence: "Units and the service do what their tests say",
    run: ({ more }) => jest(more),
  },
  {
    name: "build",
    group: "build",
    tiers: ["first", "second"],
    wide: true,
    sentence: "Host and remotes build, hold only what belongs there, and stay within their budgets",
    cached: ofRoot("build"),
    run: build,
  },
  {
    name: "rebuild",
    group: "build",
    tiers: ["second"],
    wide: true,
    sentence: "The same sources give the same bytes in another folder",
    cached: ofRoot("rebuild"),
    run: ({ whole }) => rebuiltAlike(whole ? buildables : ["host", "settings"]),
  },
  {
    name: "releases",
    group: "releases",
    tiers: ["second"],
    beside: "e2e",
    sentence: "Every release that is kept keeps to the contract in this host",
    run: releasesConform,
  },
  {
    name: "stories",
    group: "e2e",
    tiers: ["first", "second"],
    wide: true,
    sentence: "People can do what we promise, in a real browser",
    files: ({ stories }) => stories,
    cached: ofRoot("stories"),
    run: stories,
  },
  {
    name: "session",
    group: "session",
    tiers: [],
    wide: true,
    sentence: "A page left open stays signed in, in a real browser",
    run: ({ more }) => built(() => playwright(["specs/session", ...more], undefined, allRounds)),
  },
  {
    name: "attacks",
    group: "attacks",
    tiers: [],
    wide: true,
    sentence: "Attackers of the page do not get what they want, in Chromium and in Firefox",
    run: ({ more }) => built(() => playwright(more, "attacks.config.ts", allRounds)),
  },
  {
    name: "neighbours",
    group: "neighbours",
    tiers: [],
    wide: true,
    sentence: "Whatever one account does, others are served",
    run: ({ more }) => onStand("neighbours", more),
  },
  {
    name: "contention",
    group: "contention",
    tiers: [],
    wide: true,
    sentence: "However many come at once, a share has as many views as it has, and a request one answer",
    run: ({ more }) => onStand("contention", more),
  },
  {
    name: "kills",
    group: "faults",
    tiers: [],
    wide: true,
    sentence: "Killing services, gateway and database at random loses nothing that was acknowledged",
    run: ({ more }) => onStand("kills", more),
  },
];

/** Read by tests that come in rounds. */
const allRounds = { RELICARIO_TESTS: "all" } as const;

/** Name of the step that runs the units of a package. */
export function unitsName(folder: string): string {
  return `unit-${folder.replaceAll("/", "-")}`;
}

/** Those of a package, without its packages inside. One worker: another step runs beside it. */
function unitsOf(folder: string): Step {
  return {
    name: unitsName(folder),
    group: "unit",
    tiers: ["first", "second"],
    sentence: `The units of ${folder} do what their tests say`,
    files: ({ units }) => units.filter((file) => packageOf(file) === folder),
    cached: { folder, script: "unit", report: `${folder}/build/unit.json` },
    run: async ({ files }) => {
      const result = await jest(["--selectProjects", folder, "--runTestsByPath", ...files], { workers: 1 });
      const missing =
        result.files === undefined ? [] : files.filter((file) => !result.files?.some((ran) => ran.file === file));
      return missing.length === 0
        ? result
        : {
            ...result,
            failed: result.failed + missing.length,
            said: `${result.said}\nNo project of jest.config.cjs runs ${missing.join(", ")}.`,
          };
    },
  };
}

/** One after the other; what failed is named by its sentence. */
async function checks(): Promise<Result> {
  const results: Result[] = [];
  for (const { sentence, work } of checkList) {
    const { code, said } = await work();
    results.push(asOne({ code, said: `✗ ${sentence}\n${said}` }));
  }
  return { ...together(results), remark: `${String(results.length)} checks` };
}

function build(): Promise<Result> {
  return built(async () =>
    together([
      { passed: 1, failed: 0, said: "" },
      asOne(await check("bundles.ts")()),
      asOne(await run(bin("size-limit"), [])),
    ]),
  );
}

/** What starts a portal for a test has no time to build it. */
async function built(work: () => Promise<Result>): Promise<Result> {
  await ensureBuilt(() => undefined, buildables);
  return work();
}

async function rebuiltAlike(names: readonly Buildable[]): Promise<Result> {
  const differing = [...(await rebuild(names))].flatMap(([name, found]) =>
    differences(builtFiles(name), found).map((line) => `${name}: ${line}`),
  );
  return { passed: differing.length === 0 ? 1 : 0, failed: differing.length === 0 ? 0 : 1, said: differing.join("\n") };
}

/** One after the other, each in a page of its own. */
function releasesConform(): Promise<Result> {
  return built(async () => {
    const { folders, refused } = keptReleases();
    const results: Result[] = [];
    for (const [release, folder] of folders) {
      const { failed, said } = await jest(["--config", "tooling/jest/released.cjs", "--rootDir", rootFolder], {
        workers: 1,
        environment: { RELICARIO_RELEASE: folder },
        modest: true,
      });
      results.push(asOne({ code: failed, said: `${release}\n${said}` }));
    }
    return {
      ...together(results),
      remark: [
        `${String(results.length)} releases`,
        ...(refused.length > 0 ? [`refused for their contract: ${refused.join(", ")}`] : []),
      ].join("; "),
    };
  });
}

/** Who names a file means all of it. */
function stories({ files, more, whole }: Asked): Promise<Result> {
  const named = more.length > 0;
  const chosen = named ? more : files.map((file) => file.replace(/^e2e\//, ""));
  return built(() =>
    playwright(
      [...(whole || named ? [] : ["--grep-invert", longStories]), ...chosen],
      undefined,
      whole ? allRounds : {},
    ),
  );
}

/** What runs on a small deployment of real processes, and shows what it finds as it goes. */
const onStand = async (name: "contention" | "kills" | "neighbours", more: readonly string[]): Promise<Result> =>
  asOne(await node([join("api/src/testing/neighbours", `${name}.ts`), ...more], { show: true }));
