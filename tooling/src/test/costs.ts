import type { StepReport } from "./report.ts";

export interface Cost {
  /** Name of a step, or path of a test file. */
  readonly name: string;
  readonly seconds: number;
  readonly processorSeconds: number | null;
  readonly load: number;
  /** At the previous commit: processor seconds where both have them, else clock seconds. */
  readonly previousSeconds: number | null;
}

type RecordedRun = Omit<StepReport, "output">;

/** Growth in seconds below which, or below a fifth, a difference is noise. */
const noiseSeconds = 1;

/**
 * Last costs, the highest first, and those that grew. Processor seconds count where they are known,
 * since clock seconds depend on what else runs.
 *
 * @param history oldest first
 * @param count maximum length of each list
 */
export function compareCosts(
  history: readonly RecordedRun[],
  count: number,
): { readonly highestCosts: readonly Cost[]; readonly increasedCosts: readonly Cost[] } {
  const runs = new Map<string, (Omit<Cost, "previousSeconds"> & { readonly commit: string })[]>();
  const addMeasurement = (key: string, cost: Omit<Cost, "previousSeconds"> & { readonly commit: string }): void => {
    runs.set(key, [...(runs.get(key) ?? []), cost]);
  };
  for (const { step, seconds, processorSeconds, load, commit, files } of history) {
    addMeasurement([step, ...files.map(({ file }) => file).sort()].join("\n"), {
      name: step,
      seconds,
      processorSeconds,
      load,
      commit,
    }); // a step runs other files in each tier
    for (const { file, ...cost } of files) addMeasurement(file, { name: file, ...cost, load, commit });
  }
  const costs = [...runs.values()].flatMap((measurements): Cost[] => {
    const last = measurements.at(-1);
    if (last === undefined) return [];
    const { commit, ...cost } = last;
    const earlierRun = measurements.findLast((run) => run.commit !== commit);
    return [
      {
        ...cost,
        previousSeconds:
          earlierRun === undefined
            ? null
            : getCostSeconds(earlierRun, cost.processorSeconds !== null && earlierRun.processorSeconds !== null),
      },
    ];
  });
  const growthSeconds = (cost: Cost): number =>
    cost.previousSeconds === null ? 0 : getCostSeconds(cost, cost.processorSeconds !== null) - cost.previousSeconds;
  return {
    highestCosts: costs.toSorted((a, b) => getCostSeconds(b, true) - getCostSeconds(a, true)).slice(0, count),
    increasedCosts: costs
      .filter((cost) => growthSeconds(cost) > Math.max(noiseSeconds, (cost.previousSeconds ?? 0) / 5))
      .sort((a, b) => growthSeconds(b) - growthSeconds(a))
      .slice(0, count),
  };
}

function getCostSeconds(
  { seconds, processorSeconds }: Pick<Cost, "seconds" | "processorSeconds">,
  byProcessor: boolean,
): number {
  return byProcessor ? (processorSeconds ?? seconds) : seconds;
}
