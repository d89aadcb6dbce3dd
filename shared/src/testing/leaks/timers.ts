import { timeoutManager } from "@tanstack/react-query";

import { placeOfCall, replace, type Account } from "./held.ts";

interface Timer {
  readonly what: "interval" | "timeout" | "animation frame";
  readonly delay: unknown;
  readonly place: () => string;
  /** It was still to come when its screen had gone. */
  outlived: boolean;
}

/** What is set by these is not counted. Null where nobody counts: then those of the page. */
let uncounted: Pick<typeof window, "setTimeout" | "clearTimeout"> | null = null;

// A query that is out of its cache, but was looked at, sets a timer to leave the cache. It ends by
// itself, and no screen could end it. Polling is counted.
timeoutManager.setTimeoutProvider({
  setTimeout: (run, delay) => (uncounted ?? window).setTimeout(run, delay),
  clearTimeout: (id: number | undefined) => {
    (uncounted ?? window).clearTimeout(id);
  },
  setInterval: (run, delay) => window.setInterval(run, delay),
  clearInterval: (id: number | undefined) => {
    window.clearInterval(id);
  },
});

/**
 * What a page does later. A timeout that comes when its screen has gone counts though it is over by
 * then: one that the screen clears, or somebody later, is none.
 */
export function watchTimers(): Account {
  const timers = new Map<number, Timer>();
  const frames = new Map<number, Timer>();
  const {
    setTimeout: later,
    setInterval: often,
    clearTimeout: clearLater,
    clearInterval: clearOften,
    requestAnimationFrame: request,
    cancelAnimationFrame: cancel,
  } = window;
  uncounted = { setTimeout: later, clearTimeout: clearLater };
  const note = (what: Timer["what"], delay: unknown): Timer => ({ what, delay, place: placeOfCall(), outlived: false });

  const restore = [
    replace(window, "setTimeout", (run: TimerHandler, delay?: number, ...rest: unknown[]) => {
      const timer = note("timeout", delay);
      const id = later(
        (...given: unknown[]) => {
          if (!timer.outlived) timers.delete(id);
          if (typeof run === "function") Reflect.apply(run, window, given);
        },
        delay,
        ...rest,
      );
      timers.set(id, timer);
      return id;
    }),
    replace(window, "setInterval", (run: TimerHandler, delay?: number, ...rest: unknown[]) => {
      const id = often(run, delay, ...rest);
      timers.set(id, note("interval", delay));
      return id;
    }),
    // Each clears what the other one set, as the standard has it.
    ...(["clearTimeout", "clearInterval"] as const).map((name) =>
      replace(window, name, (id: number | undefined) => {
        if (id !== undefined) timers.delete(id);
        (name === "clearTimeout" ? clearLater : clearOften)(id);
      }),
    ),
    replace(window, "requestAnimationFrame", (run: FrameRequestCallback) => {
      const id = request((time) => {
        frames.delete(id);
        run(time);
      });
      frames.set(id, note("animation frame", undefined));
      return id;
    }),
    replace(window, "cancelAnimationFrame", (id: number) => {
      frames.delete(id);
      cancel(id);
    }),
  ];

  return {
    held: () =>
      [...timers.values(), ...frames.values()].map(({ what, delay, place }) => ({
        what,
        which: () => `${typeof delay === "number" ? `of ${String(delay)} ms ` : ""}${place()}`,
      })),
    screenGone: () => {
      for (const timer of timers.values()) timer.outlived = true;
    },
    stop: () => {
      uncounted = window;
      for (const undo of restore) undo();
    },
  };
}
