import type { CoverageRow } from "./coverage-table.ts";
import { mainStories, maxRelatedFiles, assignTiers } from "./tiers.ts";

const createRow = (...tests: string[]): CoverageRow => ({
  id: "1.1",
  fact: "a fact",
  subject: "shell",
  state: "works",
  tests,
});
const getUnitPath = (name: string): string => `host/src/${name}.test.ts`;
const getStoryPath = (name: string): string => `e2e/specs/${name}.spec.ts`;

describe("assignTiers", () => {
  const files = [
    getUnitPath("a"),
    getUnitPath("b"),
    getUnitPath("contracts/c"),
    "remote-a/src/conformance.test.tsx",
    "remote-a/src/conformance-all.test.tsx",
    getStoryPath("x"),
    getStoryPath("y"),
    getStoryPath("z"),
    ...mainStories,
    "e2e/attacks/one.spec.ts",
    "host/released/one.test.ts",
    "tooling/template/src/one.test.tsx",
  ];

  it("puts into the first tier unit files that a fact names, conformance and contract suites, and all others into the second", () => {
    const { first, second } = assignTiers(files, [createRow(getUnitPath("a"))]);
    expect([first.units, second.units]).toEqual([
      [getUnitPath("a"), getUnitPath("contracts/c"), "remote-a/src/conformance.test.tsx"],
      [getUnitPath("b"), "remote-a/src/conformance-all.test.tsx"],
    ]);
  });

  it("puts into the first tier the main stories, and into the second a story whose facts a unit file shows", () => {
    const { first, second } = assignTiers(files, [createRow(getUnitPath("a"), getStoryPath("x"))]);
    expect([first.stories, second.stories]).toEqual([
      mainStories.toSorted(),
      [getStoryPath("x"), getStoryPath("y"), getStoryPath("z")],
    ]);
  });

  it("selects the fewest stories that show what no unit file shows", () => {
    const { first } = assignTiers(files, [
      createRow(getStoryPath("x")),
      createRow(getStoryPath("x"), getStoryPath("y")),
      createRow(getStoryPath("y"), getStoryPath("z")),
      createRow(getStoryPath("z")),
      createRow(getStoryPath("y"), mainStories[0] ?? ""),
    ]);
    expect(first.stories).toEqual([getStoryPath("x"), getStoryPath("z"), ...mainStories].sort());
  });

  it("selects the story of a fact that otherwise only an attack shows", () => {
    expect(assignTiers(files, [createRow("e2e/attacks/one.spec.ts", getStoryPath("y"))]).first.stories).toContain(
      getStoryPath("y"),
    );
  });

  it("puts into the first tier unit files related to a change, the nearest within the budget, and lists the others", () => {
    const relatedFiles = Array.from({ length: maxRelatedFiles + 2 }, (_, index) =>
      getUnitPath(`related-${String(index).padStart(3, "0")}`),
    );
    const { first, second, postponed } = assignTiers(
      [...files, ...relatedFiles],
      [createRow(getUnitPath("a"))],
      [getUnitPath("a"), ...relatedFiles],
    );
    expect(first.units).toEqual([
      getUnitPath("a"),
      getUnitPath("contracts/c"),
      ...relatedFiles.slice(0, maxRelatedFiles),
      "remote-a/src/conformance.test.tsx",
    ]);
    expect(postponed).toEqual(relatedFiles.slice(maxRelatedFiles));
    expect(second.units).toEqual([getUnitPath("b"), ...postponed, "remote-a/src/conformance-all.test.tsx"]);
  });

  it("puts every file that no other command runs into one tier", () => {
    const { first, second } = assignTiers(
      files,
      [createRow(getUnitPath("a")), createRow(getStoryPath("x"))],
      [getUnitPath("b")],
    );
    const tieredFiles = [first, second].flatMap(({ units, stories }) => [...units, ...stories]);
    expect(tieredFiles.toSorted()).toEqual(files.slice(0, -3).sort());
  });
});
