/**
 * `pnpm times [count]`: which steps and files of the test commands cost most on this machine, and
 * what grew since the commit before.
 */
import { compareCosts, type Cost } from "./costs.ts";
import { readHistory } from "./report.ts";

const count = Number(process.argv[2] ?? 20);
const history = readHistory();
if (history.length === 0) {
  console.log("Nothing was timed yet: npm test times what it runs.");
  process.exit();
}

const { slowest, grown } = compareCosts(history, count);
const formatLine = ({ name, seconds, processorSeconds, load, previous }: Cost): string =>
  [
    seconds.toFixed(1).padStart(8),
    (processorSeconds?.toFixed(1) ?? "").padStart(10),
    load.toFixed(1).padStart(6),
    previous === null ? "".padStart(8) : previous.toFixed(1).padStart(8),
    `  ${name}`,
  ].join("");
const header = `${"clock s".padStart(8)}${"processor".padStart(10)}${"load".padStart(6)}${"before".padStart(8)}`;

console.log(`Slowest\n${header}\n${slowest.map(formatLine).join("\n")}`);
console.log(
  grown.length === 0
    ? "\nNothing grew since the commit before."
    : `\nGrew since the commit before\n${header}\n${grown.map(formatLine).join("\n")}`,
);
