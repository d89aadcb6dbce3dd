/** `pnpm check:coverage`: fails when docs/coverage.md claims what no test shows; prints the counts last. */
import { readFileSync } from "node:fs";
import path from "node:path";

import { coverageCounts, readCoverage } from "./coverage-table.ts";

const root = path.resolve(import.meta.dirname, "../../..");

const report = readCoverage(readFileSync(path.join(root, "docs/coverage.md"), "utf8"), (file) => {
  try {
    return readFileSync(path.join(root, file), "utf8");
  } catch {
    // Not there, or not readable: either way it shows nothing, and the check says so with the row's id.
    return null;
  }
});

for (const problem of report.problems) console.error(`docs/coverage.md, ${problem}`);
if (report.problems.length > 0) process.exitCode = 1;
console.log(coverageCounts(report.rows));
