/** Steps of the test commands. Each prints the sentence that it verified. */
import { join } from "node:path";

import { hashBuiltFiles, describeDifferences, rebuild } from "../bundle/rebuild.ts";
import { ensureBuilt } from "../bundle/ensure-built.ts";
import { buildTargets, type BuildTarget } from "../bundle/packages.ts";
import { startPooledServer } from "../database/pooled-server.ts";
import { rootFolder } from "../paths.ts";
import { findPackageFolder, packageFolders } from "../remotes.ts";
import { installChartCheckers } from "./chart-checkers.ts";
import { installEnginePrograms } from "./engine-programs.ts";
import { installBrowsers } from "./install-packages.ts";
import { runJest } from "./jest.ts";
import { runLint } from "./lint.ts";
import { findRetainedReleases } from "./retained-releases.ts";
import { runPlaywright } from "./playwright.ts";
import { installPromtool } from "./promtool.ts";
import { toStepResult, mergeResults, type StepResult } from "./result.ts";
import { getBinPath, runNode, run, type ProcessResult } from "./run.ts";
import { startS3Proxy } from "./s3proxy.ts";
import type { TestFiles, TierName } from "./tiers.ts";

export interface Step {
  /** For `node tooling/src/test/step.ts <name>`. */
  readonly name: string;
  /** For `npm test -- <group>`. */
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
    | "faults"
    | "keycloak"
    | "stores"
    | "engines"
    | "monitoring"
    | "chart"
    | "compose";
  /** Empty when it runs only with its group, or with everything. */
  readonly tiers: readonly TierName[];
  readonly sentence: string;
  /** Replaces the other steps when its group is requested; does not run otherwise. */
  readonly replacesGroup?: true;
  /** Runs only when its group is requested: it downloads programs of others. */
  readonly onRequest?: true;
  /** Uses the whole machine; other steps run before, two at a time. */
  readonly exclusive?: true;
  /** Runs in parallel with this group, since the group leaves processors idle. */
  readonly runsAlongside?: "e2e";
  /** A tier without any skips the step. */
  readonly files?: (tier: TestFiles) => readonly string[];
  /**
   * Skipped while its inputs are unchanged. Folder and script for wireit; the report's path from
   * the root.
   */
  readonly cached?: { readonly folder: string; readonly script: string; readonly report: string };
  readonly run: (input: StepInput) => Promise<StepResult>;
}

interface StepInput {
  /** Empty when the group is requested. */
  readonly files: readonly string[];
  /** Further arguments, such as files. */
  readonly extraArguments: readonly string[];
  /** Run everything, all rounds included. */
  readonly isComplete: boolean;
}

/** Tag in titles of stories that take minutes. */
const longStoryTag = "@long";

const createCheckRunner = (script: string) => (): Promise<ProcessResult> =>
  runNode([join("tooling/src/checks", script)]);

const checkScripts: readonly { readonly sentence: string; readonly execute: () => Promise<ProcessResult> }[] = [
  {
    sentence: "No file, export or dependency is left over",
    execute: () => run(getBinPath("knip"), ["--no-config-hints"]),
  },
  { sentence: "No file and no folder is in an import cycle", execute: createCheckRunner("cycles.ts") },
  { sentence: "Only the catalog has versions", execute: createCheckRunner("versions.ts") },
  { sentence: "What the host shares is all that the shared packages export", execute: createCheckRunner("surface.ts") },
  { sentence: "Every text is used and exists in both languages", execute: createCheckRunner("texts.ts") },
  {
    sentence: "Every fact that works names a test that exists, and every test file is in one tier",
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
    sentence: "The types of all packages are correct",
    cached: createRootCache("types"),
    run: async () => toStepResult(await createCheckRunner("types.ts")()),
  },
  {
    name: "lint",
    group: "lint",
    tiers: ["first"],
    sentence: "The code follows its rules and boundaries",
    cached: createRootCache("lint"),
    run: async ({ extraArguments }) => toStepResult(await runLint(extraArguments)),
  },
  {
    name: "lint-typed",
    group: "lint-typed",
    tiers: ["second"],
    sentence: "The code follows the rule that needs ESLint with types",
    cached: createRootCache("lint-typed"),
    run: async () => toStepResult(await run(getBinPath("eslint"), ["--config", "eslint.typed.config.mjs", "."])),
  },
  {
    name: "checks",
    group: "checks",
    tiers: ["first"],
    sentence: "Nothing is unused, in a cycle, installed twice, without its text or without its test",
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
    sentence: "The unit tests of all packages pass",
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
    run: ({ isComplete }) => compareRebuild(isComplete ? buildTargets : ["host", "settings"]),
  },
  {
    name: "releases",
    group: "releases",
    tiers: ["second"],
    runsAlongside: "e2e",
    sentence: "Every retained release follows the contract in this host",
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
    sentence: "Attacks on the page do what is expected, in Chromium, Firefox and WebKit",
    run: async ({ extraArguments }) => {
      await installBrowsers(["firefox-esr", "webkit2gtk-driver", "xvfb", "dbus-daemon"]);
      return runAfterBuild(() => runPlaywright(extraArguments, "attacks.config.ts", allRoundsEnvironment));
    },
  },
  {
    name: "keycloak",
    group: "keycloak",
    tiers: [],
    onRequest: true,
    exclusive: true,
    sentence: "People sign in, stay signed in and sign out with a real Keycloak",
    run: ({ extraArguments }) => runAfterBuild(() => runPlaywright(extraArguments, "keycloak.config.ts")),
  },
  {
    name: "neighbours",
    group: "neighbours",
    tiers: [],
    exclusive: true,
    sentence: "Others are served whatever one account does",
    run: ({ extraArguments }) => runOnTestDeployment("neighbours", extraArguments),
  },
  {
    name: "contention",
    group: "contention",
    tiers: [],
    exclusive: true,
    sentence: "Concurrent calls get no extra view of a share, and no second answer to a request",
    run: ({ extraArguments }) => runOnTestDeployment("contention", extraArguments),
  },
  {
    name: "kills",
    group: "faults",
    tiers: [],
    exclusive: true,
    sentence: "Killing services, gateway, identity provider and database loses nothing that was acknowledged",
    run: ({ extraArguments }) => runOnTestDeployment("kills", extraArguments),
  },
  {
    name: "process-faults",
    group: "faults",
    tiers: [],
    exclusive: true,
    sentence: "A wrong clock of one process, a late database and old rows harm no one",
    run: () => runOnTestDeployment("process-faults", []),
  },
  {
    name: "faults",
    group: "faults",
    tiers: [],
    sentence: "A wrong clock of the provider, a full disk, a slow database and old rows are named, and harm no one",
    run: () => runJest(["--selectProjects", "api", "--runTestsByPath", ...faultTests], { workers: 1 }),
  },
  {
    name: "stores",
    group: "stores",
    tiers: [],
    exclusive: true,
    onRequest: true,
    sentence: "Folder and S3 server store alike, the service works on both, and killing either loses nothing",
    run: runOnS3Server,
  },
  {
    name: "engines",
    group: "engines",
    tiers: [],
    exclusive: true,
    onRequest: true,
    sentence: "The service works on PostgreSQL 15 behind PgBouncer, which shares connections between transactions",
    run: runOnPooledServer,
  },
  {
    name: "monitoring",
    group: "monitoring",
    tiers: [],
    onRequest: true,
    sentence: "Each alert fires when it should and not in a healthy system, by Prometheus's own checker",
    run: async () =>
      runJest(["tooling/src/test/promtool.test.ts"], { environment: { RELICARIO_PROMTOOL: await installPromtool() } }),
  },
  {
    name: "chart",
    group: "chart",
    tiers: [],
    onRequest: true,
    sentence: "The Helm chart is valid for Kubernetes, and gives each process the settings that it knows",
    run: async () => runJest(["tooling/src/containers/chart.test.ts"], { environment: await installChartCheckers() }),
  },
  {
    name: "compose",
    group: "compose",
    tiers: [],
    onRequest: true,
    exclusive: true,
    sentence: "The full profile of compose.yaml works with the programs of its images",
    run: ({ extraArguments }) => runAfterBuild(() => runPlaywright(extraArguments, "compose.config.ts")),
  },
];

const faultTests: readonly string[] = [
  "api/src/auth/clock-skew.test.ts",
  "api/src/db/unresponsive-database.test.ts",
  "api/src/identity/faults.test.ts",
  "api/src/objects/full-store.test.ts",
];

/** Tests of contents, from the store up. */
const storeTests: readonly string[] = [
  "tooling/src/objects/object-stores.test.ts",
  "api/src/objects",
  "api/src/uploads",
  "api/src/secrets",
  "api/src/stages",
  "api/src/requests",
  "api/src/shares",
  "api/src/delete-account",
  "api/src/jobs",
  "api/src/main-kills.test.ts",
];

async function runOnS3Server({ extraArguments }: StepInput): Promise<StepResult> {
  const server = await startS3Proxy();
  try {
    return await runJest(extraArguments.length > 0 ? extraArguments : storeTests, {
      workers: 1,
      environment: { ...server.environment, ...allRoundsEnvironment },
    });
  } finally {
    await server.stop();
  }
}

async function runOnPooledServer({ extraArguments }: StepInput): Promise<StepResult> {
  const engine = await startPooledServer(await installEnginePrograms());
  try {
    return await runJest([...(extraArguments.length > 0 ? extraArguments : ["api/src"]), "--selectProjects", "api"], {
      environment: engine.environment,
    });
  } finally {
    await engine.stop();
  }
}

/** Makes tests with rounds run all of them. */
const allRoundsEnvironment = { RELICARIO_TESTS: "all" } as const;

export function getUnitStepName(folder: string): string {
  return `unit-${folder.replaceAll("/", "-")}`;
}

/** Without nested packages. One worker, because another step runs in parallel. */
function createUnitStep(folder: string): Step {
  return {
    name: getUnitStepName(folder),
    group: "unit",
    tiers: ["first", "second"],
    sentence: `The unit tests of ${folder} pass`,
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

async function runChecks(): Promise<StepResult> {
  const results: StepResult[] = [];
  for (const { sentence, execute } of checkScripts) {
    const { code, output } = await execute();
    results.push(toStepResult({ code, output: `✗ ${sentence}\n${output}` }));
  }
  return { ...mergeResults(results), remark: `${String(results.length)} checks` };
}

function runBuild(): Promise<StepResult> {
  return runAfterBuild(async () =>
    mergeResults([
      { passed: 1, failed: 0, output: "" },
      toStepResult(await createCheckRunner("bundles.ts")()),
      toStepResult(await run(getBinPath("size-limit"), [])),
    ]),
  );
}

/** Builds first, since a test that starts a portal has no time to build. */
async function runAfterBuild(task: () => Promise<StepResult>): Promise<StepResult> {
  await ensureBuilt(() => undefined, buildTargets);
  return task();
}

async function compareRebuild(names: readonly BuildTarget[]): Promise<StepResult> {
  const problems = [...(await rebuild(names))].flatMap(([name, rebuiltFiles]) =>
    describeDifferences(hashBuiltFiles(name), rebuiltFiles).map((line) => `${name}: ${line}`),
  );
  return { passed: problems.length === 0 ? 1 : 0, failed: problems.length === 0 ? 0 : 1, output: problems.join("\n") };
}

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
      results.push(toStepResult({ code: failed, output: `${release}\n${output}` }));
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

/** Named files run with their long stories. */
function runStories({ files, extraArguments, isComplete }: StepInput): Promise<StepResult> {
  const hasSelection = extraArguments.length > 0;
  const selected = hasSelection ? extraArguments : files.map((file) => file.replace(/^e2e\//, ""));
  return runAfterBuild(async () => {
    if (selected.some((file) => file.includes("kit-pictures"))) await installBrowsers(["firefox-esr"]);
    return runPlaywright(
      [...(isComplete || hasSelection ? [] : ["--grep-invert", longStoryTag]), ...selected],
      undefined,
      isComplete ? allRoundsEnvironment : {},
    );
  });
}

const runOnTestDeployment = async (
  name: "process-faults" | "contention" | "kills" | "neighbours",
  extraArguments: readonly string[],
): Promise<StepResult> =>
  toStepResult(
    await runNode([join("api/src/testing/neighbours", `${name}.ts`), ...extraArguments], { showOutput: true }),
  );
