import { remoteNames } from "../remotes.ts";
import { listTestNames } from "./test-names.ts";

const subjects: readonly string[] = ["shell", ...remoteNames, "deployment", "service"];

const states = ["works", "partly", "differs", "not yet"] as const;
type State = (typeof states)[number];

/** Sections of the specification that need rows. */
const sections = [1, 2, 3, 4, 5, 6, 7, 8, 9] as const;

const columns = ["id", "fact", "subject", "state", "test"] as const;
const separatorCell = /^:?-{3,}:?$/;
const testPath = /^(?!\/)(?!.*\.\.)[\w@./-]+\.(test|spec)\.tsx?$/;

export interface CoverageRow {
  /** Section and number, such as `4.12`. */
  readonly id: string;
  readonly fact: string;
  readonly subject: string;
  readonly state: State;
  /** From the root. */
  readonly tests: readonly string[];
}

interface CoverageReport {
  readonly rows: readonly CoverageRow[];
  /** Each begins with its line number. */
  readonly problems: readonly string[];
}

/**
 * Reads the coverage document and compares it with the tests.
 *
 * @param markdown the text of `docs/coverage.md`
 * @param readTest the source of a test file by its path from the root, null when there is none
 */
export function readCoverage(markdown: string, readTest: (path: string) => string | null): CoverageReport {
  const rows: CoverageRow[] = [];
  const problems: string[] = [];
  const lineById = new Map<string, number>();
  const testNamesByFile = new Map<string, readonly string[] | null>();

  const loadTestNames = (path: string): readonly string[] | null => {
    const cachedNames = testNamesByFile.get(path);
    if (cachedNames !== undefined) return cachedNames;
    const source = readTest(path);
    const loadedNames = source === null ? null : listTestNames(source, path);
    testNamesByFile.set(path, loadedNames);
    return loadedNames;
  };

  let section: number | null = null;
  let expectedLine: "columns" | "separator" | "row" = "columns";

  markdown.split(/\r?\n/).forEach((text, index) => {
    const line = index + 1;
    const reportProblem = (problem: string): void => {
      problems.push(`line ${String(line)}: ${problem}`);
    };

    if (text.startsWith("#")) {
      const heading = /^## ([1-9])\. \S/.exec(text);
      section = heading === null ? null : Number(heading[1]);
      expectedLine = "columns";
      return;
    }
    if (text.trim() === "") return;
    if (section === null) {
      if (text.startsWith("|")) reportProblem("a table outside the numbered sections");
      return;
    }

    const cells = parseCells(text);
    if (cells?.length !== columns.length) {
      reportProblem(
        `malformed: a line of section ${String(section)} is a row of ${String(columns.length)} cells between bars`,
      );
      return;
    }
    if (expectedLine === "columns") {
      if (cells.join() !== columns.join())
        reportProblem(`malformed: the first line of a table is "${columns.join(" | ")}"`);
      expectedLine = "separator";
      return;
    }
    if (expectedLine === "separator") {
      if (!cells.every((cell) => separatorCell.test(cell)))
        reportProblem("malformed: dashes follow the first line of a table");
      expectedLine = "row";
      return;
    }

    const [id = "", fact = "", subject = "", state = "", test = ""] = cells;
    if (!/^[1-9]\.[1-9][0-9]*$/.test(id)) reportProblem(`malformed: "${id}" is not an id such as ${String(section)}.1`);
    else if (!id.startsWith(`${String(section)}.`)) reportProblem(`malformed: ${id} is in section ${String(section)}`);
    const previousLine = lineById.get(id);
    if (previousLine !== undefined) reportProblem(`duplicate id: ${id} is on line ${String(previousLine)} already`);
    else lineById.set(id, line);
    if (fact === "") reportProblem(`malformed: ${id} has no fact`);
    if (!subjects.includes(subject)) reportProblem(`unknown subject of ${id}: "${subject}" (${subjects.join(", ")})`);
    if (!isOneOf(states, state)) reportProblem(`unknown state of ${id}: "${state}" (${states.join(", ")})`);
    for (const problem of findTestProblems(id, state, test, loadTestNames)) reportProblem(problem);
    if (subjects.includes(subject) && isOneOf(states, state))
      rows.push({
        id,
        fact,
        subject,
        state,
        tests: parseTestReferences(state, test).map((reference) => reference.split(":")[0] ?? ""),
      });
  });

  for (const requiredSection of sections) {
    if (!rows.some((row) => row.id.startsWith(`${String(requiredSection)}.`)))
      problems.push(`section ${String(requiredSection)} of the specification has no rows`);
  }
  return { rows, problems };
}

/** The last line is the sum. */
export function formatCoverageCounts(rows: readonly CoverageRow[]): string {
  const formatLine = (name: string, subset: readonly CoverageRow[]): string =>
    [
      name.padEnd(10),
      ...states.map((state) => String(subset.filter((row) => row.state === state).length).padStart(9)),
      String(subset.length).padStart(9),
    ].join("");
  return [
    ["".padEnd(10), ...states.map((state) => state.padStart(9)), "rows".padStart(9)].join(""),
    ...subjects.map((subject) =>
      formatLine(
        subject,
        rows.filter((row) => row.subject === subject),
      ),
    ),
    formatLine("all", rows),
  ].join("\n");
}

function findTestProblems(
  id: string,
  state: string,
  cell: string,
  loadTestNames: (path: string) => readonly string[] | null,
): string[] {
  if (state === "differs" && !isSentence(splitCell(cell)[0] ?? ""))
    return [`${id} says "differs" and gives no reason before its tests`];
  const references = parseTestReferences(state, cell);
  if (state === "works" && references.length === 0) return [`${id} says "works" and names no test`];
  if (state === "not yet" && references.length > 0) return [`${id} says "not yet" and names a test`];
  return references.flatMap((reference) => {
    const [path = "", ...rest] = reference.split(":");
    const expectedName = rest.join(":").trim();
    if (!testPath.test(path)) return [`malformed: ${id} names "${path}", which is not the path of a test file`];
    const namesInFile = loadTestNames(path);
    if (namesInFile === null) return [`${id} names a test file that does not exist: ${path}`];
    if (namesInFile.length === 0) return [`${id} names a file in which no test runs: ${path}`];
    if (rest.length > 0 && expectedName === "") return [`malformed: ${id} has an empty name part behind ${path}`];
    if (!namesInFile.some((name) => name.includes(expectedName)))
      return [`${id} names a test that does not exist or is skipped: "${expectedName}" in ${path}`];
    return [];
  });
}

function splitCell(cell: string): string[] {
  return cell === "" ? [] : cell.split("<br>").map((part) => part.trim());
}

function parseTestReferences(state: string, cell: string): string[] {
  return state === "differs" ? splitCell(cell).slice(1) : splitCell(cell);
}

/** Ends with a full stop, unlike a path. */
function isSentence(text: string): boolean {
  return /^\p{Lu}.* .*\.$/u.test(text);
}

/** Cells of a table row, null for another line. A bar in a cell is written `\|`. */
function parseCells(text: string): readonly string[] | null {
  const parts = text.trim().split(/(?<!\\)\|/);
  if (parts.length < 3 || parts[0] !== "" || parts.at(-1) !== "") return null;
  return parts.slice(1, -1).map((part) => part.trim().replaceAll("\\|", "|"));
}

function isOneOf<const T extends string>(list: readonly T[], value: string): value is T {
  return list.some((item) => item === value);
}
