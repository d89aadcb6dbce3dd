import { readFileSync } from "node:fs";
import path from "node:path";

import { formatCoverageCounts, readCoverage } from "./coverage-table.ts";
import { listTestNames } from "./test-names.ts";

const tableHead = "| id | fact | subject | state | test |\n| --- | --- | --- | --- | --- |";

const testSources = new Map([
  [
    "host/src/a.test.ts",
    `describe("auth", () => { it("starts as loading", () => {}); it.skip("never runs", () => {}); });`,
  ],
  ["host/src/empty.test.ts", `describe("nothing in here", () => { /* it("is a comment", () => {}) */ });`],
]);
const readTest = (file: string): string | null => testSources.get(file) ?? null;

/** A document whose nine sections hold one row each, with other rows for some. */
function buildCoverageDocument(rowsBySection: Readonly<Record<number, readonly string[]>> = {}): string {
  const sections = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((section) => {
    const rows = rowsBySection[section] ?? [`| ${String(section)}.1 | a fact | shell | not yet |  |`];
    return [`## ${String(section)}. A section`, "", tableHead, ...rows, ""].join("\n");
  });
  return ["# Coverage", "", "Some words.", "", ...sections].join("\n");
}

const findProblems = (markdown: string): readonly string[] => readCoverage(markdown, readTest).problems;

describe("readCoverage", () => {
  it("accepts a valid table", () => {
    expect(
      findProblems(
        buildCoverageDocument({
          4: [
            "| 4.1 | starts as loading | shell | works | host/src/a.test.ts:starts as loading<br>host/src/a.test.ts |",
            "| 4.2 | half | service | partly |  |",
            "| 4.3 | other | service | differs | The service does it. |",
            "| 4.4 | other | service | differs | The service does it, with a test.<br>host/src/a.test.ts |",
          ],
        }),
      ),
    ).toEqual([]);
  });

  it.each([
    ["names no test", "| 4.1 | f | shell | works |  |", /4\.1 says "works" and names no test/],
    [
      "names a file that is not there",
      "| 4.1 | f | shell | works | host/src/b.test.ts |",
      /does not exist: host\/src\/b\.test\.ts/,
    ],
    [
      "names a file in which no test runs",
      "| 4.1 | f | shell | works | host/src/empty.test.ts |",
      /no test runs: host\/src\/empty/,
    ],
    [
      "names a test that the file does not hold",
      "| 4.1 | f | shell | works | host/src/a.test.ts:ends |",
      /"ends" in host\/src\/a\.test\.ts/,
    ],
    [
      "names a skipped test",
      "| 4.1 | f | shell | works | host/src/a.test.ts:never runs |",
      /does not exist or is skipped: "never runs"/,
    ],
    ["names a commented test", "| 4.1 | f | shell | works | host/src/empty.test.ts:is a comment |", /no test runs/],
    [
      "has a wrong second test",
      "| 4.1 | f | shell | works | host/src/a.test.ts<br>host/src/b.test.ts |",
      /does not exist: host\/src\/b/,
    ],
    ["names a file that is no test", "| 4.1 | f | shell | works | host/src/a.ts |", /not the path of a test file/],
    ["climbs out of the tree", "| 4.1 | f | shell | works | ../host/src/a.test.ts |", /not the path of a test file/],
    ["has nothing behind the colon", "| 4.1 | f | shell | works | host/src/a.test.ts: |", /empty name part/],
    [
      "names a missing test and says partly",
      "| 4.1 | f | shell | partly | host/src/b.test.ts |",
      /does not exist: host\/src\/b/,
    ],
    [
      "says not yet and names a test",
      "| 4.1 | f | shell | not yet | host/src/a.test.ts |",
      /says "not yet" and names a test/,
    ],
    ["differs without a reason", "| 4.1 | f | shell | differs |  |", /4\.1 says "differs" and gives no reason/],
    [
      "differs with a test for its reason",
      "| 4.1 | f | shell | differs | host/src/a.test.ts |",
      /4\.1 says "differs" and gives no reason/,
    ],
    [
      "differs with a test that is not there",
      "| 4.1 | f | shell | differs | The service does it.<br>host/src/b.test.ts |",
      /does not exist: host\/src\/b/,
    ],
    ["has an unknown state", "| 4.1 | f | shell | done |  |", /unknown state of 4\.1: "done"/],
    ["has an unknown subject", "| 4.1 | f | frame | not yet |  |", /unknown subject of 4\.1: "frame"/],
    ["has a cell too few", "| 4.1 | f | shell | not yet |", /malformed: a line of section 4/],
    ["has a cell too many", "| 4.1 | f | shell | not yet |  |  |", /malformed: a line of section 4/],
    ["has no bars around it", "4.1 | f | shell | not yet |", /malformed: a line of section 4/],
    ["has no fact", "| 4.1 |  | shell | not yet |  |", /malformed: 4\.1 has no fact/],
    ["has no number", "| 4 | f | shell | not yet |  |", /malformed: "4" is not an id/],
    ["is in another section", "| 3.9 | f | shell | not yet |  |", /malformed: 3\.9 is in section 4/],
  ])("reports the line of a row that %s", (_, row, problem) => {
    const problems = findProblems(buildCoverageDocument({ 4: ["| 4.9 | kept | shell | not yet |  |", row] }));
    expect(problems).toEqual([expect.stringMatching(problem)]);
    const line = Number(/^line (\d+): /.exec(problems[0] ?? "")?.[1]);
    expect(buildCoverageDocument({ 4: ["| 4.9 | kept | shell | not yet |  |", row] }).split("\n")[line - 1]).toBe(row);
  });

  it("reports a duplicate id", () => {
    const problems = findProblems(
      buildCoverageDocument({ 4: ["| 4.1 | f | shell | not yet |  |", "| 4.1 | g | shell | not yet |  |"] }),
    );
    expect(problems).toEqual([expect.stringMatching(/duplicate id: 4\.1 is on line \d+ already/)]);
  });

  it("reports a section without rows", () => {
    expect(findProblems(buildCoverageDocument({ 6: [] }))).toEqual(["section 6 of the specification has no rows"]);
  });

  it("reports a missing section", () => {
    expect(findProblems(buildCoverageDocument().replace("## 9. A section", "## Another section"))).toContain(
      "section 9 of the specification has no rows",
    );
  });

  it("reports columns with other names", () => {
    expect(findProblems(buildCoverageDocument().replace("| id | fact |", "| id | what |"))).toEqual([
      expect.stringMatching(/the first line of a table is "id \| fact/),
    ]);
  });

  it("reports a table outside the numbered sections", () => {
    expect(findProblems(`${buildCoverageDocument()}\n## Notes\n\n| a | b |\n`)).toEqual([
      expect.stringMatching(/a table outside the numbered sections/),
    ]);
  });

  it("keeps an escaped bar in a cell", () => {
    expect(
      readCoverage(buildCoverageDocument({ 4: ["| 4.1 | a \\| b | shell | not yet |  |"] }), readTest).rows,
    ).toContainEqual({
      id: "4.1",
      fact: "a | b",
      subject: "shell",
      state: "not yet",
      tests: [],
    });
  });
});

describe("formatCoverageCounts", () => {
  it("counts by subject and state, the sum last", () => {
    const { rows } = readCoverage(
      buildCoverageDocument({
        4: [
          "| 4.1 | f | service | works | host/src/a.test.ts |",
          "| 4.2 | f | shell | partly |  |",
          "| 4.3 | f | shell | differs | Another way is safer. |",
        ],
      }),
      readTest,
    );
    const lines = formatCoverageCounts(rows).split("\n");
    expect(lines[0]?.trim().split(/\s{2,}/)).toEqual(["works", "partly", "differs", "not yet", "rows"]);
    expect(
      lines
        .find((line) => line.startsWith("service"))
        ?.trim()
        .split(/\s+/),
    ).toEqual(["service", "1", "0", "0", "0", "1"]);
    expect(lines.at(-1)?.trim().split(/\s+/)).toEqual(["all", "1", "1", "1", "8", "11"]);
  });
});

describe("listTestNames", () => {
  it("names tests with their groups, tables and steps", () => {
    expect(
      listTestNames(
        `
        describe("vault", () => {
          it("seals", () => {});
          it.each([1, 2])("opens %s", () => {});
          test.each\`a\`("templates", () => {});
          it(\`throws \${code} when altered\`, () => {});
        });
        test.describe("story", () => { test("protects", async () => { await test.step("signs in", async () => {}); }); });
      `,
        "a.test.ts",
      ),
    ).toEqual([
      "vault seals",
      "vault opens %s",
      "vault templates",
      "vault throws ${code} when altered",
      "story protects",
      "story protects signs in",
    ]);
  });

  it("leaves out skipped and postponed tests, and other calls", () => {
    expect(
      listTestNames(
        `
        describe.skip("later", () => { it("a", () => {}); });
        xdescribe("aside", () => { it("b", () => {}); });
        it.todo("c");
        test.fixme("d", () => {});
        // it("e", () => {});
        const text = 'it("f", () => {})';
        test.use("g");
        visit("h");
      `,
        "a.test.ts",
      ),
    ).toEqual([]);
  });

  it("reads a generic function in .ts and an element in .tsx", () => {
    expect(listTestNames(`const same = <T>(value: T): T => value; it("in ts", () => {});`, "a.test.ts")).toEqual([
      "in ts",
    ]);
    expect(listTestNames(`const page = <Page title="x" />; it("in tsx", () => {});`, "a.test.tsx")).toEqual(["in tsx"]);
  });

  it("keeps a test whose body skips conditionally", () => {
    expect(listTestNames(`test("runs", () => { test.skip(isOld, "not there"); });`, "a.spec.ts")).toEqual(["runs"]);
  });
});

describe("docs/coverage.md", () => {
  const root = path.resolve(__dirname, "../../..");
  const { rows } = readCoverage(readFileSync(path.join(root, "docs/coverage.md"), "utf8"), () => "");

  it("numbers the rows of each section without a gap, so that a lost row is seen", () => {
    for (const section of ["1", "2", "3", "4", "5", "6", "7", "8", "9"]) {
      const numbers = rows.filter((row) => row.id.startsWith(`${section}.`)).map((row) => Number(row.id.slice(2)));
      expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    }
  });
});
