import { watchElements } from "./leaks/elements.ts";
import type { HeldResource } from "./leaks/resource-tracker.ts";
import { watchListeners } from "./leaks/listeners.ts";
import { watchObservers } from "./leaks/observers.ts";
import { watchResources } from "./leaks/resources.ts";
import { watchTimers } from "./leaks/timers.ts";

export interface LeakWatch {
  /** To be called each time that the screen has gone, before the next one comes. */
  readonly handleUnmount: () => void;
  readonly listHeld: () => readonly HeldResource[];
  readonly stop: () => void;
}

/**
 * Starts to keep account of what screens have to end, by wrapping the functions that begin and end
 * it.
 */
export function watchLeaks(): LeakWatch {
  const trackers = [watchListeners(), watchTimers(), watchObservers(), watchResources(), watchElements()];
  return {
    handleUnmount: () => {
      for (const { handleUnmount } of trackers) handleUnmount?.();
    },
    listHeld: () => trackers.flatMap(({ listHeld }) => listHeld()),
    stop: () => {
      for (const { stop } of trackers.reverse()) stop();
    },
  };
}

/**
 * What became more, in a line for each kind. One more is no leak: libraries keep some things once,
 * from the first time that they are needed.
 */
export function findGrowth(baseline: readonly HeldResource[], current: readonly HeldResource[]): string[] {
  return [...new Set(current.map(({ resourceKind }) => resourceKind))].flatMap((kind) => {
    const matching = current.filter(({ resourceKind }) => resourceKind === kind);
    const growth = matching.length - baseline.filter(({ resourceKind }) => resourceKind === kind).length;
    return growth > 1 ? [`${String(growth)} × ${kind}, the last ${matching.at(-1)?.locate() ?? ""}`] : [];
  });
}
