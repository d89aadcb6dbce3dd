import { compareCosts } from "./costs.ts";
import type { StepReport } from "./report.ts";

const buildRun = (
  commit: string,
  step: string,
  seconds: number,
  files: StepReport["files"] = [],
  processorSeconds: number | null = seconds,
): Omit<StepReport, "output"> => ({
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
const buildFile = (name: string, processorSeconds: number | null, seconds = 1) => ({
  file: name,
  seconds,
  processorSeconds,
});
const listNames = (costs: readonly { readonly name: string }[]): readonly string[] => costs.map(({ name }) => name);

describe("compareCosts", () => {
  it("sorts the highest first, by processor seconds where they are known", () => {
    const { highestCosts } = compareCosts(
      [buildRun("a", "unit", 10, [buildFile("x", 3, 90), buildFile("y", null, 5), buildFile("z", 1)])],
      3,
    );
    expect(listNames(highestCosts)).toEqual(["unit", "y", "x"]);
  });

  it("uses the last measurement of each step", () => {
    expect(compareCosts([buildRun("a", "unit", 10), buildRun("a", "unit", 4)], 1).highestCosts).toMatchObject([
      { name: "unit", seconds: 4, previousSeconds: null },
    ]);
  });

  it("reports costs that grew since the previous commit, and ignores noise", () => {
    const { increasedCosts } = compareCosts(
      [
        buildRun("a", "unit", 99),
        buildRun("b", "unit", 10, [buildFile("x", 2), buildFile("y", 20)]),
        buildRun("c", "unit", 12.5, [buildFile("x", 2.9), buildFile("y", 21)]),
        buildRun("c", "unit", 13, [buildFile("x", 4), buildFile("y", 22)]),
      ],
      5,
    );
    expect(increasedCosts).toMatchObject([
      { name: "unit", seconds: 13, previousSeconds: 10 },
      { name: "x", processorSeconds: 4, previousSeconds: 2 },
    ]);
  });

  it("compares clock seconds where one of the two lacks processor seconds", () => {
    expect(
      compareCosts([buildRun("a", "stories", 100, [], null), buildRun("b", "stories", 150, [], 3)], 5).highestCosts,
    ).toMatchObject([{ name: "stories", previousSeconds: 100 }]);
  });
});
