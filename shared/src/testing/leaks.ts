import { watchElements } from "./leaks/elements.ts";
import type { Held } from "./leaks/held.ts";
import { watchListeners } from "./leaks/listeners.ts";
import { watchObservers } from "./leaks/observers.ts";
import { watchResources } from "./leaks/resources.ts";
import { watchTimers } from "./leaks/timers.ts";

export interface LeakWatch {
  /** To be called each time that the screen has gone, before the next one comes. */
  readonly screenGone: () => void;
  readonly held: () => readonly Held[];
  readonly stop: () => void;
}

/**
 * Starts to keep account of what screens have to end, by wrapping the functions that begin and end
 * it.
 */
export function watchLeaks(): LeakWatch {
  const accounts = [watchListeners(), watchTimers(), watchObservers(), watchResources(), watchElements()];
  return {
    screenGone: () => {
      for (const { screenGone } of accounts) screenGone?.();
    },
    held: () => accounts.flatMap(({ held }) => held()),
    stop: () => {
      for (const { stop } of accounts.reverse()) stop();
    },
  };
}

/**
 * What became more, in a line for each kind. One more is no leak: libraries keep some things once,
 * from the first time that they are needed.
 */
export function grown(before: readonly Held[], after: readonly Held[]): string[] {
  return [...new Set(after.map(({ what }) => what))].flatMap((kind) => {
    const now = after.filter(({ what }) => what === kind);
    const more = now.length - before.filter(({ what }) => what === kind).length;
    return more > 1 ? [`${String(more)} × ${kind}, the last ${now.at(-1)?.which() ?? ""}`] : [];
  });
}
