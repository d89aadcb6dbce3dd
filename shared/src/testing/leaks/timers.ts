import { timeoutManager } from "@tanstack/react-query";

import { captureCallSite, replaceMember, type ResourceTracker } from "./resource-tracker.ts";

interface Timer {
  readonly resourceKind: "interval" | "timeout" | "animation frame";
  readonly delay: unknown;
  readonly callSite: () => string;
  /** It was still to come when its screen had gone. */
  hasOutlivedScreen: boolean;
}

/** What is set by these is not counted. Null where nobody counts: then those of the page. */
let untrackedTimerFunctions: Pick<typeof window, "setTimeout" | "clearTimeout"> | null = null;

// A query that is out of its cache, but was looked at, sets a timer to leave the cache. It ends by
// itself, and no screen could end it. Polling is counted.
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
 * What a page does later. A timeout that comes when its screen has gone counts though it is over by
 * then: one that the screen clears, or somebody later, is none.
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
    callSite: captureCallSite(),
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
    // Each clears what the other one set, as the standard has it.
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
    listHeld: () =>
      [...timers.values(), ...frames.values()].map(({ resourceKind, delay, callSite }) => ({
        resourceKind,
        locate: () => `${typeof delay === "number" ? `of ${String(delay)} ms ` : ""}${callSite()}`,
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
