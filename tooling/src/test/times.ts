/**
 * `pnpm times [count]`: prints the most expensive steps and test files, and what grew since the
 * previous commit.
 */
import { compareCosts, type Cost } from "./costs.ts";
import { readHistory } from "./report.ts";

const count = Number(process.argv[2] ?? 20);
const history = readHistory();
if (history.length === 0) {
  console.log("There are no timings yet: npm test records them.");
  process.exit();
}

const { highestCosts, increasedCosts } = compareCosts(history, count);
const formatLine = ({ name, seconds, processorSeconds, load, previousSeconds }: Cost): string =>
  [
    seconds.toFixed(1).padStart(8),
    (processorSeconds?.toFixed(1) ?? "").padStart(10),
    load.toFixed(1).padStart(6),
    previousSeconds === null ? "".padStart(8) : previousSeconds.toFixed(1).padStart(8),
    `  ${name}`,
  ].join("");
const header = `${"clock s".padStart(8)}${"processor".padStart(10)}${"load".padStart(6)}${"before".padStart(8)}`;

console.log(`Slowest\n${header}\n${highestCosts.map(formatLine).join("\n")}`);
console.log(
  increasedCosts.length === 0
    ? "\nNothing grew since the commit before."
    : `\nGrew since the commit before\n${header}\n${increasedCosts.map(formatLine).join("\n")}`,
);
