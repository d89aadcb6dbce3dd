import { costlier } from "./costs.ts";
import type { StepReport } from "./report.ts";

const run = (
  commit: string,
  step: string,
  seconds: number,
  files: StepReport["files"] = [],
  processorSeconds: number | null = seconds,
): Omit<StepReport, "said"> => ({
  step,
  passed: 1,
  failed: 0,
  at: 0,
  commit,
  seconds,
  processorSeconds,
  load: 0.5,
  files,
});
const file = (name: string, processorSeconds: number | null, seconds = 1) => ({
  file: name,
  seconds,
  processorSeconds,
});
const names = (costs: readonly { readonly what: string }[]): readonly string[] => costs.map(({ what }) => what);

describe("costlier", () => {
  it("puts the dearest first, by the processor's seconds where they are known", () => {
    const { slowest } = costlier([run("a", "unit", 10, [file("x", 3, 90), file("y", null, 5), file("z", 1)])], 3);
    expect(names(slowest)).toEqual(["unit", "y", "x"]);
  });

  it("takes the last figures of each", () => {
    expect(costlier([run("a", "unit", 10), run("a", "unit", 4)], 1).slowest).toMatchObject([
      { what: "unit", seconds: 4, before: null },
    ]);
  });

  it("says what grew since the last commit before, and not what differs by noise", () => {
    const { grown } = costlier(
      [
        run("a", "unit", 99),
        run("b", "unit", 10, [file("x", 2), file("y", 20)]),
        run("c", "unit", 12.5, [file("x", 2.9), file("y", 21)]),
        run("c", "unit", 13, [file("x", 4), file("y", 22)]),
      ],
      5,
    );
    expect(grown).toMatchObject([
      { what: "unit", seconds: 13, before: 10 },
      { what: "x", processorSeconds: 4, before: 2 },
    ]);
  });

  it("compares by the clock where one of the two has no processor's seconds", () => {
    expect(costlier([run("a", "stories", 100, [], null), run("b", "stories", 150, [], 3)], 5).slowest).toMatchObject([
      { what: "stories", before: 100 },
    ]);
  });
});
