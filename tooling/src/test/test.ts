/**
 * `npm test`: the first tier. `npm test -- stories` (`npm run test:stories`): the second. `npm test
 * -- <group> [more]`: a part of both. `npm test -- all`: everything, also what takes too long for
 * every time. Ends with `N passed, N failed`.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { readCoverage } from "../checks/coverage-table.ts";
import { rootFolder } from "../paths.ts";
import { branchPoint, changedFiles, checkoutFiles, relatedUnits } from "./changed-files.ts";
import { endRunning } from "./run.ts";
import { runStep } from "./step-process.ts";
import { steps, type Step } from "./steps.ts";
import { tiersOf, type TestFiles, type TierName } from "./tiers.ts";

const groups = [...new Set(steps.map(({ group }) => group))];
const [asked, ...more] = process.argv.slice(2);
const whole = asked === "all";
const tier: TierName | null = asked === undefined ? "first" : asked === "stories" ? "second" : null;
if (tier === null && !whole && !groups.some((group) => group === asked)) {
  console.error(
    `There is no part "${String(asked)}": choose one of ${groups.join(", ")}, "stories" for the second tier, "all" for everything, or none for the first tier.`,
  );
  process.exit(2);
}

if (tier !== null && more.length > 0) {
  console.error(`A whole tier takes nothing more: name a part before ${more.join(" ")}.`);
  process.exit(2);
}
for (const signal of ["SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    endRunning();
    process.exit(1);
  });
}

/** Under CI everything runs; elsewhere a step that passed with the same inputs is passed over. */
const reuse = process.env["CI"] !== "true" && tier !== null;
const start = performance.now();
let passed = 0;
let failed = 0;

async function take(step: Step, files: readonly string[]): Promise<void> {
  const from = Date.now();
  const report = await runStep(step, { files, more, whole, reuse });
  const seconds = (Date.now() - from) / 1000;
  if (!("step" in report)) {
    failed += 1;
    console.log(`✗ ${step.sentence} (${seconds.toFixed(1)} s)\n${report.said.trim()}\n`);
    return;
  }
  passed += report.passed;
  failed += report.failed;
  const remarks = [report.remark, report.at < from ? "unchanged" : undefined, `${seconds.toFixed(1)} s`].filter(
    (remark) => remark !== undefined,
  );
  console.log(`${report.failed === 0 ? "✓" : "✗"} ${step.sentence} (${remarks.join(", ")})`);
  if (report.failed > 0) console.log(`${report.said.trim()}\n`);
}

/** @throws Error where git does not know the checkout */
async function testFiles(): Promise<TestFiles> {
  if (tier === null && !whole) return { units: [], stories: [] };
  const files = (await checkoutFiles()).filter((file) => /\.(test|spec)\.tsx?$/.test(file));
  const { rows } = readCoverage(readFileSync(join(rootFolder, "docs/coverage.md"), "utf8"), () => null);
  if (tier === null) {
    const { first, second } = tiersOf(files, rows);
    return { units: [...first.units, ...second.units], stories: [...first.stories, ...second.stories] };
  }
  const { postponed, ...tiers } = tiersOf(files, rows, await relatedUnits(await changedFiles(await branchPoint())));
  if (postponed.length > 0)
    console.log(`${String(postponed.length)} more files are related to what changed; npm run test:stories runs them.`);
  return tiers[tier];
}

const files = await testFiles().catch((error: unknown) => {
  console.error(
    `The test files could not be listed: ${error instanceof Error ? error.message : String(error)}\n0 passed, 1 failed`,
  );
  process.exit(1);
});
const filesOf = (step: Step): readonly string[] | null => (step.files === undefined ? null : step.files(files));
const todo = chosenSteps();

function chosenSteps(): Step[] {
  if (tier !== null) return steps.filter((step) => step.tiers.includes(tier) && filesOf(step)?.length !== 0);
  if (whole) return steps.filter(({ instead }) => instead !== true);
  const ofGroup = steps.filter(({ group }) => group === asked);
  const instead = ofGroup.filter((step) => step.instead === true);
  return instead.length > 0 ? instead : ofGroup;
}

const companionsOf = (group: Step["group"]): readonly Step[] => todo.filter(({ beside }) => beside === group);
const inLane = (step: Step): boolean =>
  step.wide !== true && (step.beside === undefined || !todo.some(({ group }) => group === step.beside));

/** What has many files last would be waited for alone. */
const waiting = todo
  .filter(inLane)
  .sort((one, other) =>
    filesOf(one) === null
      ? -1
      : filesOf(other) === null
        ? 1
        : (filesOf(other)?.length ?? 0) - (filesOf(one)?.length ?? 0),
  );
const lane = async (): Promise<void> => {
  for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) await take(step, filesOf(step) ?? []);
};
await Promise.all([lane(), lane()]);
for (const step of todo.filter(({ wide }) => wide === true))
  await Promise.all([step, ...companionsOf(step.group)].map((one) => take(one, filesOf(one) ?? [])));

console.log(`\nIn ${((performance.now() - start) / 1000).toFixed(0)} s.`);
console.log(`${String(passed)} passed, ${String(failed)} failed`);
process.exitCode = failed === 0 ? 0 : 1;
