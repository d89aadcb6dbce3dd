/**
 * `pnpm times [count]`: which steps and files of the test commands cost most on this machine, and
 * what grew since the commit before.
 */
import { costlier, type Cost } from "./costs.ts";
import { readHistory } from "./report.ts";

const count = Number(process.argv[2] ?? 20);
const history = readHistory();
if (history.length === 0) {
  console.log("Nothing was timed yet: npm test times what it runs.");
  process.exit();
}

const { slowest, grown } = costlier(history, count);
const line = ({ what, seconds, processorSeconds, load, before }: Cost): string =>
  [
    seconds.toFixed(1).padStart(8),
    (processorSeconds?.toFixed(1) ?? "").padStart(10),
    load.toFixed(1).padStart(6),
    before === null ? "".padStart(8) : before.toFixed(1).padStart(8),
    `  ${what}`,
  ].join("");
const head = `${"clock s".padStart(8)}${"processor".padStart(10)}${"load".padStart(6)}${"before".padStart(8)}`;

console.log(`Slowest\n${head}\n${slowest.map(line).join("\n")}`);
console.log(
  grown.length === 0
    ? "\nNothing grew since the commit before."
    : `\nGrew since the commit before\n${head}\n${grown.map(line).join("\n")}`,
);
