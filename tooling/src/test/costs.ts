import type { StepReport } from "./report.ts";

export interface Cost {
  /** Name of a step, or path of a test file. */
  readonly name: string;
  readonly seconds: number;
  readonly processorSeconds: number | null;
  readonly load: number;
  /**
   * At the last commit before that was timed: processor seconds where both have them, else seconds
   * by the clock; null where there is none.
   */
  readonly previous: number | null;
}

type RecordedRun = Omit<StepReport, "output">;

/** A file that costs this much more, and a fifth more, has grown: less is noise. In seconds. */
const noiseSeconds = 1;

/**
 * The last figures of each step with its files and of each file, the dearest first, and those that
 * grew. The processor's seconds count where they are known, since the clock's depend on what else
 * runs.
 *
 * @param history the oldest first
 * @param count how many of each at most
 */
export function compareCosts(
  history: readonly RecordedRun[],
  count: number,
): { readonly slowest: readonly Cost[]; readonly grown: readonly Cost[] } {
  const runs = new Map<string, (Omit<Cost, "previous"> & { readonly commit: string })[]>();
  const addMeasurement = (key: string, cost: Omit<Cost, "previous"> & { readonly commit: string }): void => {
    runs.set(key, [...(runs.get(key) ?? []), cost]);
  };
  for (const { step, seconds, processorSeconds, load, commit, files } of history) {
    addMeasurement([step, ...files.map(({ file }) => file).sort()].join("\n"), {
      name: step,
      seconds,
      processorSeconds,
      load,
      commit,
    }); // the tiers run other files
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
        previous:
          earlierRun === undefined
            ? null
            : getCostSeconds(earlierRun, cost.processorSeconds !== null && earlierRun.processorSeconds !== null),
      },
    ];
  });
  const growthSeconds = (cost: Cost): number =>
    cost.previous === null ? 0 : getCostSeconds(cost, cost.processorSeconds !== null) - cost.previous;
  return {
    slowest: costs.toSorted((a, b) => getCostSeconds(b, true) - getCostSeconds(a, true)).slice(0, count),
    grown: costs
      .filter((cost) => growthSeconds(cost) > Math.max(noiseSeconds, (cost.previous ?? 0) / 5))
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
