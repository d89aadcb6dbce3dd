import type { StepReport } from "./report.ts";

export interface Cost {
  /** Name of a step, or path of a test file. */
  readonly what: string;
  readonly seconds: number;
  readonly processorSeconds: number | null;
  readonly load: number;
  /**
   * At the last commit before that was timed: processor seconds where both have them, else seconds
   * by the clock; null where there is none.
   */
  readonly before: number | null;
}

type Run = Omit<StepReport, "said">;

/** A file that costs this much more, and a fifth more, has grown: less is noise. In seconds. */
const noise = 1;

/**
 * The last figures of each step with its files and of each file, the dearest first, and those that
 * grew. The processor's seconds count where they are known, since the clock's depend on what else
 * runs.
 *
 * @param history the oldest first
 * @param count how many of each at most
 */
export function costlier(
  history: readonly Run[],
  count: number,
): { readonly slowest: readonly Cost[]; readonly grown: readonly Cost[] } {
  const runs = new Map<string, (Omit<Cost, "before"> & { readonly commit: string })[]>();
  const add = (key: string, cost: Omit<Cost, "before"> & { readonly commit: string }): void => {
    runs.set(key, [...(runs.get(key) ?? []), cost]);
  };
  for (const { step, seconds, processorSeconds, load, commit, files } of history) {
    add([step, ...files.map(({ file }) => file).sort()].join("\n"), {
      what: step,
      seconds,
      processorSeconds,
      load,
      commit,
    }); // the tiers run other files
    for (const { file, ...cost } of files) add(file, { what: file, ...cost, load, commit });
  }
  const costs = [...runs.values()].flatMap((ofOne): Cost[] => {
    const last = ofOne.at(-1);
    if (last === undefined) return [];
    const { commit, ...cost } = last;
    const earlier = ofOne.findLast((run) => run.commit !== commit);
    return [
      {
        ...cost,
        before:
          earlier === undefined
            ? null
            : figure(earlier, cost.processorSeconds !== null && earlier.processorSeconds !== null),
      },
    ];
  });
  const growth = (cost: Cost): number =>
    cost.before === null ? 0 : figure(cost, cost.processorSeconds !== null) - cost.before;
  return {
    slowest: costs.toSorted((one, other) => figure(other, true) - figure(one, true)).slice(0, count),
    grown: costs
      .filter((cost) => growth(cost) > Math.max(noise, (cost.before ?? 0) / 5))
      .sort((one, other) => growth(other) - growth(one))
      .slice(0, count),
  };
}

function figure(
  { seconds, processorSeconds }: Pick<Cost, "seconds" | "processorSeconds">,
  byProcessor: boolean,
): number {
  return byProcessor ? (processorSeconds ?? seconds) : seconds;
}
