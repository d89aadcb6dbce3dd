import { timeoutManager } from "@tanstack/react-query";

import { captureCallSite, replaceMember, type ResourceTracker } from "./resource-tracker.ts";

interface Timer {
  readonly resourceKind: "interval" | "timeout" | "animation frame";
  readonly delay: unknown;
  readonly getCallSite: () => string;
  /** Whether the timer was pending when its screen was unmounted. */
  hasOutlivedScreen: boolean;
}

/**
 * Timer functions that are not tracked. Null while nothing is watched; then the page's own
 * functions are used.
 */
let untrackedTimerFunctions: Pick<typeof window, "setTimeout" | "clearTimeout"> | null = null;

// A query that leaves the cache after its last use sets a garbage-collection timer, which no screen
// can clear. Timers of polling are tracked.
timeoutManager.setTimeoutProvider({
  setTimeout: (callback, delay) => (untrackedTimerFunctions ?? window).setTimeout(callback, delay),
  clearTimeout: (id: number | undefined) => {
    (untrackedTimerFunctions ?? window).clearTimeout(id);
  },
  setInterval: (callback, delay) => window.setInterval(callback, delay),
  clearInterval: (id: number | undefined) => {
    window.clearInterval(id);
  },
});

/**
 * Tracks timers. A timeout that fires after its screen was unmounted counts, although it is over by
 * then. A timeout that was cleared does not count.
 */
export function watchTimers(): ResourceTracker {
  const timers = new Map<number, Timer>();
  const frames = new Map<number, Timer>();
  const {
    setTimeout: nativeSetTimeout,
    setInterval: nativeSetInterval,
    clearTimeout: nativeClearTimeout,
    clearInterval: nativeClearInterval,
    requestAnimationFrame: nativeRequestFrame,
    cancelAnimationFrame: nativeCancelFrame,
  } = window;
  untrackedTimerFunctions = { setTimeout: nativeSetTimeout, clearTimeout: nativeClearTimeout };
  const createTimer = (resourceKind: Timer["resourceKind"], delay: unknown): Timer => ({
    resourceKind,
    delay,
    getCallSite: captureCallSite(),
    hasOutlivedScreen: false,
  });

  const restorers = [
    replaceMember(window, "setTimeout", (callback: TimerHandler, delay?: number, ...rest: unknown[]) => {
      const timer = createTimer("timeout", delay);
      const id = nativeSetTimeout(
        (...parameters: unknown[]) => {
          if (!timer.hasOutlivedScreen) timers.delete(id);
          if (typeof callback === "function") Reflect.apply(callback, window, parameters);
        },
        delay,
        ...rest,
      );
      timers.set(id, timer);
      return id;
    }),
    replaceMember(window, "setInterval", (callback: TimerHandler, delay?: number, ...rest: unknown[]) => {
      const id = nativeSetInterval(callback, delay, ...rest);
      timers.set(id, createTimer("interval", delay));
      return id;
    }),
    // By the standard, each of the two functions also clears timers of the other kind.
    ...(["clearTimeout", "clearInterval"] as const).map((name) =>
      replaceMember(window, name, (id: number | undefined) => {
        if (id !== undefined) timers.delete(id);
        (name === "clearTimeout" ? nativeClearTimeout : nativeClearInterval)(id);
      }),
    ),
    replaceMember(window, "requestAnimationFrame", (callback: FrameRequestCallback) => {
      const id = nativeRequestFrame((time) => {
        frames.delete(id);
        callback(time);
      });
      frames.set(id, createTimer("animation frame", undefined));
      return id;
    }),
    replaceMember(window, "cancelAnimationFrame", (id: number) => {
      frames.delete(id);
      nativeCancelFrame(id);
    }),
  ];

  return {
    listHeldResources: () =>
      [...timers.values(), ...frames.values()].map(({ resourceKind, delay, getCallSite }) => ({
        resourceKind,
        locate: () => `${typeof delay === "number" ? `of ${String(delay)} ms ` : ""}${getCallSite()}`,
      })),
    handleUnmount: () => {
      for (const timer of timers.values()) timer.hasOutlivedScreen = true;
    },
    stop: () => {
      untrackedTimerFunctions = window;
      for (const restoreMember of restorers) restoreMember();
    },
  };
}
