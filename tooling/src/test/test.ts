/**
 * `npm test`: the first tier. `npm test -- stories`: the second. `npm test -- <group> [more]`: a
 * group of steps. `npm test -- all`: everything. Ends with `N passed, N failed`.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { readCoverage } from "./coverage-table.ts";
import { rootFolder } from "../paths.ts";
import { findBranchPoint, listChangedFiles, listCheckoutFiles, findRelatedUnits } from "./changed-files.ts";
import { terminateChildren } from "./run.ts";
import { runStep } from "./step-process.ts";
import { steps, type Step } from "./steps.ts";
import { assignTiers, type TestFiles, type TierName } from "./tiers.ts";

const groups = [...new Set(steps.map(({ group }) => group))];
const [requestedPart, ...extraArguments] = process.argv.slice(2);
const isComplete = requestedPart === "all";
const tier: TierName | null = requestedPart === undefined ? "first" : requestedPart === "stories" ? "second" : null;
if (tier === null && !isComplete && !groups.some((group) => group === requestedPart)) {
  console.error(
    `There is no part "${String(requestedPart)}": choose one of ${groups.join(", ")}, "stories" for the second tier, "all" for everything, or none for the first tier.`,
  );
  process.exit(2);
}

if (tier !== null && extraArguments.length > 0) {
  console.error(`A whole tier takes nothing more: name a part before ${extraArguments.join(" ")}.`);
  process.exit(2);
}
for (const signal of ["SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    terminateChildren();
    process.exit(1);
  });
}

/** CI runs everything; elsewhere a step that passed with the same inputs is skipped. */
const useCache = process.env["CI"] !== "true" && tier !== null;
const startedAt = performance.now();
let passed = 0;
let failed = 0;

async function executeStep(step: Step, files: readonly string[]): Promise<void> {
  const startedAt = Date.now();
  const report = await runStep(step, { files, extraArguments, isComplete, useCache });
  const seconds = (Date.now() - startedAt) / 1000;
  if (!("step" in report)) {
    failed += 1;
    console.log(`✗ ${step.sentence} (${seconds.toFixed(1)} s)\n${report.output.trim()}\n`);
    return;
  }
  passed += report.passed;
  failed += report.failed;
  const remarks = [report.remark, report.at < startedAt ? "unchanged" : undefined, `${seconds.toFixed(1)} s`].filter(
    (remark) => remark !== undefined,
  );
  console.log(`${report.failed === 0 ? "✓" : "✗"} ${step.sentence} (${remarks.join(", ")})`);
  if (report.failed > 0) console.log(`${report.output.trim()}\n`);
}

/** @throws Error when the checkout is not one of git */
async function loadTestFiles(): Promise<TestFiles> {
  if (tier === null && !isComplete) return { units: [], stories: [] };
  const files = (await listCheckoutFiles()).filter((file) => /\.(test|spec)\.tsx?$/.test(file));
  const { rows } = readCoverage(readFileSync(join(rootFolder, "docs/coverage.md"), "utf8"), () => null);
  if (tier === null) {
    const { first, second } = assignTiers(files, rows);
    return { units: [...first.units, ...second.units], stories: [...first.stories, ...second.stories] };
  }
  const { postponed, ...tiers } = assignTiers(
    files,
    rows,
    await findRelatedUnits(await listChangedFiles(await findBranchPoint())),
  );
  if (postponed.length > 0)
    console.log(`${String(postponed.length)} more files are related to what changed; npm run test:stories runs them.`);
  return tiers[tier];
}

const files = await loadTestFiles().catch((error: unknown) => {
  console.error(
    `The test files could not be listed: ${error instanceof Error ? error.message : String(error)}\n0 passed, 1 failed`,
  );
  process.exit(1);
});
const getStepFiles = (step: Step): readonly string[] | null => (step.files === undefined ? null : step.files(files));
const scheduledSteps = selectSteps();

function selectSteps(): Step[] {
  if (tier !== null) return steps.filter((step) => step.tiers.includes(tier) && getStepFiles(step)?.length !== 0);
  if (isComplete) return steps.filter(({ replacesGroup, onRequest }) => replacesGroup !== true && onRequest !== true);
  const groupSteps = steps.filter(({ group }) => group === requestedPart);
  const replacements = groupSteps.filter((step) => step.replacesGroup === true);
  return replacements.length > 0 ? replacements : groupSteps;
}

const findCompanionSteps = (group: Step["group"]): readonly Step[] =>
  scheduledSteps.filter(({ runsAlongside }) => runsAlongside === group);
const runsInParallel = (step: Step): boolean =>
  step.exclusive !== true &&
  (step.runsAlongside === undefined || !scheduledSteps.some(({ group }) => group === step.runsAlongside));

/** Longest first: steps without test files, then those with most. */
const queue = scheduledSteps
  .filter(runsInParallel)
  .sort((a, b) =>
    getStepFiles(a) === null
      ? -1
      : getStepFiles(b) === null
        ? 1
        : (getStepFiles(b)?.length ?? 0) - (getStepFiles(a)?.length ?? 0),
  );
const worker = async (): Promise<void> => {
  for (let step = queue.shift(); step !== undefined; step = queue.shift())
    await executeStep(step, getStepFiles(step) ?? []);
};
await Promise.all([worker(), worker()]);
for (const step of scheduledSteps.filter(({ exclusive }) => exclusive === true))
  await Promise.all(
    [step, ...findCompanionSteps(step.group)].map((parallelStep) =>
      executeStep(parallelStep, getStepFiles(parallelStep) ?? []),
    ),
  );

console.log(`\nIn ${((performance.now() - startedAt) / 1000).toFixed(0)} s.`);
console.log(`${String(passed)} passed, ${String(failed)} failed`);
process.exitCode = failed === 0 ? 0 : 1;
