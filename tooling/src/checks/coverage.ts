/**
 * `pnpm check:coverage`: fails when docs/coverage.md claims what no test shows, or a test file is
 * not in exactly one tier.
 */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";

import { listCheckoutFiles } from "../test/changed-files.ts";
import { listJestFiles } from "../test/jest.ts";
import { assignTiers } from "../test/tiers.ts";
import { formatCoverageCounts, readCoverage } from "../test/coverage-table.ts";

const root = path.resolve(import.meta.dirname, "../../..");

const report = readCoverage(readFileSync(path.join(root, "docs/coverage.md"), "utf8"), (file) => {
  try {
    return readFileSync(path.join(root, file), "utf8");
  } catch {
    // The check reports the row.
    return null;
  }
});

/** All test files, to compare with the tiers. */
const discoveredFiles = [...(await listJestFiles([])), ...globSync("e2e/specs/**/*.spec.ts", { cwd: root })].sort();
const files = (await listCheckoutFiles()).filter((file) => /\.(test|spec)\.tsx?$/.test(file));
const tiers = assignTiers(files, report.rows);
const [firstTier, secondTier] = [tiers.first, tiers.second].map(({ units, stories }) => [...units, ...stories]) as [
  string[],
  string[],
];
const problems = [
  ...report.problems.map((problem) => `docs/coverage.md, ${problem}`),
  ...firstTier.filter((file) => secondTier.includes(file)).map((file) => `${file} is in both tiers`),
  ...discoveredFiles
    .filter((file) => !firstTier.includes(file) && !secondTier.includes(file))
    .map((file) => `${file} is in no tier`),
  ...[...firstTier, ...secondTier]
    .filter((file) => !discoveredFiles.includes(file))
    .map((file) => `${file} is not run: no project of jest.config.cjs matches it`),
];

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
console.log(formatCoverageCounts(report.rows));
console.log(
  `npm test: ${String(tiers.first.units.length)} unit files, ${String(tiers.first.stories.length)} stories; npm run test:stories: ${String(tiers.second.units.length)} and ${String(tiers.second.stories.length)}`,
);
