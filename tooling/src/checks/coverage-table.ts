import { remoteNames } from "../remotes.ts";
import { testNames } from "./test-names.ts";

const subjects: readonly string[] = ["shell", ...remoteNames, "deployment", "service"];

const states = ["works", "partly", "differs", "not yet"] as const;
type State = (typeof states)[number];

/** Sections of the specification that need rows. */
const sections = [1, 2, 3, 4, 5, 6, 7, 8, 9] as const;

const columns = ["id", "fact", "subject", "state", "test"] as const;
const rule = /^:?-{3,}:?$/;
const testPath = /^(?!\/)(?!.*\.\.)[\w@./-]+\.(test|spec)\.tsx?$/;

export interface CoverageRow {
  /** Section and number, such as `4.12`. */
  readonly id: string;
  readonly fact: string;
  readonly subject: string;
  readonly state: State;
  /** Paths of the test files that it names, from the root. */
  readonly tests: readonly string[];
}

interface CoverageReport {
  readonly rows: readonly CoverageRow[];
  /** One line each, beginning with the line's number in the file; empty when the table holds. */
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
  const lineOfId = new Map<string, number>();
  const namesOf = new Map<string, readonly string[] | null>();

  const names = (path: string): readonly string[] | null => {
    const known = namesOf.get(path);
    if (known !== undefined) return known;
    const source = readTest(path);
    const found = source === null ? null : testNames(source, path);
    namesOf.set(path, found);
    return found;
  };

  let section: number | null = null;
  let expected: "columns" | "rule" | "row" = "columns";

  markdown.split(/\r?\n/).forEach((text, index) => {
    const line = index + 1;
    const complain = (problem: string): void => {
      problems.push(`line ${String(line)}: ${problem}`);
    };

    if (text.startsWith("#")) {
      const heading = /^## ([1-9])\. \S/.exec(text);
      section = heading === null ? null : Number(heading[1]);
      expected = "columns";
      return;
    }
    if (text.trim() === "") return;
    if (section === null) {
      if (text.startsWith("|")) complain("a table outside the numbered sections");
      return;
    }

    const cells = cellsOf(text);
    if (cells?.length !== columns.length) {
      complain(
        `malformed: a line of section ${String(section)} is a row of ${String(columns.length)} cells between bars`,
      );
      return;
    }
    if (expected === "columns") {
      if (cells.join() !== columns.join()) complain(`malformed: the first line of a table is "${columns.join(" | ")}"`);
      expected = "rule";
      return;
    }
    if (expected === "rule") {
      if (!cells.every((cell) => rule.test(cell))) complain("malformed: dashes follow the first line of a table");
      expected = "row";
      return;
    }

    const [id = "", fact = "", subject = "", state = "", test = ""] = cells;
    if (!/^[1-9]\.[1-9][0-9]*$/.test(id)) complain(`malformed: "${id}" is not an id such as ${String(section)}.1`);
    else if (!id.startsWith(`${String(section)}.`)) complain(`malformed: ${id} stands in section ${String(section)}`);
    const before = lineOfId.get(id);
    if (before !== undefined) complain(`double id: ${id} stands on line ${String(before)} already`);
    else lineOfId.set(id, line);
    if (fact === "") complain(`malformed: ${id} has no fact`);
    if (!subjects.includes(subject)) complain(`unknown subject of ${id}: "${subject}" (${subjects.join(", ")})`);
    if (!isOneOf(states, state)) complain(`unknown state of ${id}: "${state}" (${states.join(", ")})`);
    for (const problem of problemsOfTests(id, state, test, names)) complain(problem);
    if (subjects.includes(subject) && isOneOf(states, state))
      rows.push({
        id,
        fact,
        subject,
        state,
        tests: testsOf(state, test).map((reference) => reference.split(":")[0] ?? ""),
      });
  });

  for (const wanted of sections) {
    if (!rows.some((row) => row.id.startsWith(`${String(wanted)}.`)))
      problems.push(`section ${String(wanted)} of the specification has no rows`);
  }
  return { rows, problems };
}

/** Counts by subject and state, as lines of text; the last one is the sum. */
export function coverageCounts(rows: readonly CoverageRow[]): string {
  const line = (name: string, of: readonly CoverageRow[]): string =>
    [
      name.padEnd(10),
      ...states.map((state) => String(of.filter((row) => row.state === state).length).padStart(9)),
      String(of.length).padStart(9),
    ].join("");
  return [
    ["".padEnd(10), ...states.map((state) => state.padStart(9)), "rows".padStart(9)].join(""),
    ...subjects.map((subject) =>
      line(
        subject,
        rows.filter((row) => row.subject === subject),
      ),
    ),
    line("all", rows),
  ].join("\n");
}

function problemsOfTests(
  id: string,
  state: string,
  cell: string,
  names: (path: string) => readonly string[] | null,
): string[] {
  if (state === "differs" && !isSentence(partsOf(cell)[0] ?? ""))
    return [`${id} says "differs" and gives no reason before its tests`];
  const references = testsOf(state, cell);
  if (state === "works" && references.length === 0) return [`${id} says "works" and names no test`];
  if (state === "not yet" && references.length > 0) return [`${id} says "not yet" and names a test`];
  return references.flatMap((reference) => {
    const [path = "", ...rest] = reference.split(":");
    const part = rest.join(":").trim();
    if (!testPath.test(path)) return [`malformed: ${id} names "${path}", which is not the path of a test file`];
    const found = names(path);
    if (found === null) return [`${id} names a test file that does not exist: ${path}`];
    if (found.length === 0) return [`${id} names a file in which no test runs: ${path}`];
    if (rest.length > 0 && part === "") return [`malformed: ${id} has an empty name part behind ${path}`];
    if (!found.some((name) => name.includes(part)))
      return [`${id} names a test that does not exist or is skipped: "${part}" in ${path}`];
    return [];
  });
}

function partsOf(cell: string): string[] {
  return cell === "" ? [] : cell.split("<br>").map((part) => part.trim());
}

/** The references of a cell to tests, as they are written. */
function testsOf(state: string, cell: string): string[] {
  return state === "differs" ? partsOf(cell).slice(1) : partsOf(cell);
}

/** Words that end with a full stop: no path of a test does. */
function isSentence(text: string): boolean {
  return /^\p{Lu}.* .*\.$/u.test(text);
}

/** The cells of a table's line, null when it is none. A bar inside a cell is written `\|`. */
function cellsOf(text: string): readonly string[] | null {
  const parts = text.trim().split(/(?<!\\)\|/);
  if (parts.length < 3 || parts[0] !== "" || parts.at(-1) !== "") return null;
  return parts.slice(1, -1).map((part) => part.trim().replaceAll("\\|", "|"));
}

function isOneOf<const T extends string>(list: readonly T[], value: string): value is T {
  return list.some((item) => item === value);
}
