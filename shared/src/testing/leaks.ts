import { watchElements } from "./leaks/elements.ts";
import type { HeldResource } from "./leaks/resource-tracker.ts";
import { watchListeners } from "./leaks/listeners.ts";
import { watchObservers } from "./leaks/observers.ts";
import { watchResources } from "./leaks/resources.ts";
import { watchTimers } from "./leaks/timers.ts";

export interface LeakWatch {
  /** Call it after each unmount, before the next mount. */
  readonly handleUnmount: () => void;
  readonly listHeldResources: () => readonly HeldResource[];
  readonly stop: () => void;
}

/**
 * Tracks resources that screens have to release. Wraps the functions that create and release them.
 */
export function watchLeaks(): LeakWatch {
  const trackers = [watchListeners(), watchTimers(), watchObservers(), watchResources(), watchElements()];
  return {
    handleUnmount: () => {
      for (const { handleUnmount } of trackers) handleUnmount?.();
    },
    listHeldResources: () => trackers.flatMap(({ listHeldResources }) => listHeldResources()),
    stop: () => {
      for (const { stop } of trackers.reverse()) stop();
    },
  };
}

/**
 * Returns a line for each kind of resource whose number has grown by more than one. Growth by one
 * is allowed, because libraries keep single resources after first use.
 */
export function findGrowth(baseline: readonly HeldResource[], current: readonly HeldResource[]): string[] {
  return [...new Set(current.map(({ resourceKind }) => resourceKind))].flatMap((kind) => {
    const matching = current.filter(({ resourceKind }) => resourceKind === kind);
    const growth = matching.length - baseline.filter(({ resourceKind }) => resourceKind === kind).length;
    return growth > 1 ? [`${String(growth)} × ${kind}, the last ${matching.at(-1)?.locate() ?? ""}`] : [];
  });
}
