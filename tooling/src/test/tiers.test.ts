import type { CoverageRow } from "./coverage-table.ts";
import { mainStories, relatedBudget, assignTiers } from "./tiers.ts";

const row = (...tests: string[]): CoverageRow => ({
  id: "1.1",
  fact: "a fact",
  subject: "shell",
  state: "works",
  tests,
});
const unit = (name: string): string => `host/src/${name}.test.ts`;
const story = (name: string): string => `e2e/specs/${name}.spec.ts`;

describe("tiersOf", () => {
  const files = [
    unit("a"),
    unit("b"),
    unit("contracts/c"),
    "remote-a/src/conformance.test.tsx",
    "remote-a/src/conformance-all.test.tsx",
    story("x"),
    story("y"),
    story("z"),
    ...mainStories,
    "e2e/attacks/one.spec.ts",
    "host/released/one.test.ts",
    "tooling/template/src/one.test.tsx",
  ];

  it("takes unit files that a fact names, conformance and contract suites first, and all others second", () => {
    const { first, second } = assignTiers(files, [row(unit("a"))]);
    expect([first.units, second.units]).toEqual([
      [unit("a"), unit("contracts/c"), "remote-a/src/conformance.test.tsx"],
      [unit("b"), "remote-a/src/conformance-all.test.tsx"],
    ]);
  });

  it("tells the main stories first, and leaves a story whose facts a unit shows to the second", () => {
    const { first, second } = assignTiers(files, [row(unit("a"), story("x"))]);
    expect([first.stories, second.stories]).toEqual([mainStories.toSorted(), [story("x"), story("y"), story("z")]]);
  });

  it("tells the fewest stories that show what no unit shows", () => {
    const { first } = assignTiers(files, [
      row(story("x")),
      row(story("x"), story("y")),
      row(story("y"), story("z")),
      row(story("z")),
      row(story("y"), mainStories[0] ?? ""),
    ]);
    expect(first.stories).toEqual([story("x"), story("z"), ...mainStories].sort());
  });

  it("lets a fact that an attack shows too be shown by its story", () => {
    expect(assignTiers(files, [row("e2e/attacks/one.spec.ts", story("y"))]).first.stories).toContain(story("y"));
  });

  it("takes what is related to a change first, the nearest within the budget, and says what is left", () => {
    const relatedFiles = Array.from({ length: relatedBudget + 2 }, (_, index) =>
      unit(`related-${String(index).padStart(3, "0")}`),
    );
    const { first, second, postponed } = assignTiers(
      [...files, ...relatedFiles],
      [row(unit("a"))],
      [unit("a"), ...relatedFiles],
    );
    expect(first.units).toEqual([
      unit("a"),
      unit("contracts/c"),
      ...relatedFiles.slice(0, relatedBudget),
      "remote-a/src/conformance.test.tsx",
    ]);
    expect(postponed).toEqual(relatedFiles.slice(relatedBudget));
    expect(second.units).toEqual([unit("b"), ...postponed, "remote-a/src/conformance-all.test.tsx"]);
  });

  it("puts every file that is not run elsewhere into one tier", () => {
    const { first, second } = assignTiers(files, [row(unit("a")), row(story("x"))], [unit("b")]);
    const tieredFiles = [first, second].flatMap(({ units, stories }) => [...units, ...stories]);
    expect(tieredFiles.toSorted()).toEqual(files.slice(0, -3).sort());
  });
});
