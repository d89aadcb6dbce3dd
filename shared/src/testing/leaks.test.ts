import { QueryClient, QueryObserver } from "@tanstack/react-query";

import { findGrowth, watchLeaks } from "./leaks.ts";

const rounds = 3;
const noop = () => undefined;

/** True while a screen is tested. Callbacks that renew themselves stop when it becomes false. */
let isRunning = false;

/** Returns the leaks of a screen that calls `screen` on each mount. */
function findLeaks(screen: (round: number) => void): string[] {
  const watch = watchLeaks();
  isRunning = true;
  try {
    screen(0);
    watch.handleUnmount();
    const baseline = watch.listHeldResources();
    for (let round = 1; round <= rounds; round++) {
      screen(round);
      watch.handleUnmount();
    }
    return findGrowth(baseline, watch.listHeldResources());
  } finally {
    watch.stop();
    isRunning = false;
    document.body.replaceChildren();
  }
}

const leaks: readonly (readonly [string, () => void, string])[] = [
  ["a listener of the window", () => window.addEventListener("resize", () => undefined), 'listener "resize" of window'],
  [
    "a listener of the window, attached through the prototype",
    () => EventTarget.prototype.addEventListener.call(window, "resize", () => undefined),
    'listener "resize" of window',
  ],
  [
    "a listener attached by the global function",
    () => addEventListener("resize", () => undefined),
    'listener "resize" of window',
  ],
  [
    "a capturing listener of the document",
    () => document.addEventListener("keydown", () => undefined, true),
    'listener "keydown" of document',
  ],
  [
    "a listener of the html element",
    () => document.documentElement.addEventListener("click", () => undefined),
    'listener "click" of <html>',
  ],
  [
    "a listener of the head",
    () => document.head.addEventListener("load", () => undefined, true),
    'listener "load" of <head>',
  ],
  [
    "a listener of the body",
    () => document.body.addEventListener("click", () => undefined, { passive: true }),
    'listener "click" of <body>',
  ],
  [
    "a listener that is an object",
    () => document.body.addEventListener("click", { handleEvent: () => undefined }),
    'listener "click" of <body>',
  ],
  [
    "a one-time listener that never runs",
    () => document.addEventListener("click", () => undefined, { once: true }),
    'listener "click" of document',
  ],
  [
    "a listener whose signal is never aborted",
    () => document.addEventListener("click", () => undefined, { signal: new AbortController().signal }),
    'listener "click" of document',
  ],
  [
    "a listener removed with another capture flag",
    () => {
      const listener = () => undefined;
      document.addEventListener("click", listener, true);
      document.removeEventListener("click", listener);
    },
    'listener "click" of document',
  ],
  ["a different onresize function each time", () => (window.onresize = () => undefined), "onresize of window"],
  ["an interval", () => setInterval(noop, 1_000), "interval, the last of 1000 ms"],
  ["a timeout", () => window.setTimeout(noop, 60_000), "timeout, the last of 60000 ms"],
  [
    "an animation that continues",
    () => {
      const scheduleNext = () => {
        if (isRunning) requestAnimationFrame(scheduleNext);
      };
      scheduleNext();
    },
    "animation frame",
  ],
  [
    "a query that polls",
    () =>
      new QueryObserver(new QueryClient(), { queryKey: ["leak"], queryFn: () => 1, refetchInterval: 5_000 }).subscribe(
        noop,
      ),
    "interval, the last of 5000 ms",
  ],
  ["a worker", () => new Worker("blob:worker"), "Worker"],
  ["a channel", () => new BroadcastChannel("leak"), "BroadcastChannel"],
  ["an object URL", () => URL.createObjectURL(new Blob(["leak"])), "object URL"],
  [
    "a MutationObserver of the body",
    () => new MutationObserver(noop).observe(document.body, { childList: true }),
    "MutationObserver of <body>",
  ],
  ["a ResizeObserver of the body", () => new ResizeObserver(noop).observe(document.body), "ResizeObserver of <body>"],
  [
    "an IntersectionObserver of the page",
    () => new IntersectionObserver(noop).observe(document.documentElement),
    "IntersectionObserver of <html>",
  ],
  ["an element at the end of the body", () => document.body.append(document.createElement("div")), "<div> in <body>"],
  ["a style in the head", () => document.head.append(document.createElement("style")), "<style> in <head>"],
];

const listener = () => undefined;
let pendingTimer: ReturnType<typeof setTimeout> | undefined;

const harmlessEffects: readonly (readonly [string, (round: number) => void])[] = [
  [
    "a listener that is removed",
    () => {
      window.addEventListener("resize", noop);
      window.removeEventListener("resize", noop);
    },
  ],
  [
    "a listener removed through the prototype",
    () => {
      document.addEventListener("click", noop, { capture: true });
      EventTarget.prototype.removeEventListener.call(document, "click", noop, true);
    },
  ],
  [
    "a listener whose signal is aborted",
    () => {
      const controller = new AbortController();
      document.body.addEventListener("click", () => undefined, { signal: controller.signal });
      controller.abort();
    },
  ],
  [
    "a listener whose signal was aborted before",
    () => document.body.addEventListener("click", () => undefined, { signal: AbortSignal.abort() }),
  ],
  [
    "a one-time listener that ran",
    () => {
      document.addEventListener("click", () => undefined, { once: true });
      document.body.click();
    },
  ],
  [
    "a one-time listener that is removed",
    () => {
      document.addEventListener("focus", noop, { once: true });
      document.removeEventListener("focus", noop);
    },
  ],
  ["the same listener repeatedly", () => document.addEventListener("click", listener)],
  [
    "a listener attached once, on the second mount",
    (round) => round === 1 && document.addEventListener("click", () => undefined),
  ],
  ["a listener of a removed element", () => document.createElement("div").addEventListener("click", () => undefined)],
  ["no listener at all", () => (document as EventTarget).addEventListener("click", null)],
  ["the same function each time as the window's onresize", () => (window.onresize = listener)],
  ["an interval that is cleared", () => clearInterval(setInterval(noop, 1_000))],
  ["an interval that is cleared as a timeout", () => clearTimeout(setInterval(noop, 1_000))],
  ["a timeout that is cleared", () => clearTimeout(setTimeout(noop, 60_000))],
  [
    "a timeout that the next screen clears",
    () => {
      clearTimeout(pendingTimer);
      pendingTimer = setTimeout(noop, 60_000);
    },
  ],
  ["an animation that is cancelled", () => cancelAnimationFrame(requestAnimationFrame(noop))],
  [
    "the garbage-collection timer of a query",
    () =>
      new QueryObserver(new QueryClient(), {
        queryKey: ["fine"],
        queryFn: () => 1,
        enabled: false,
        gcTime: 60_000,
      }).subscribe(noop)(),
  ],
  ["a worker that is terminated", () => new Worker("blob:worker").terminate()],
  ["a channel that is closed", () => new BroadcastChannel("fine").close()],
  ["an object URL that is revoked", () => URL.revokeObjectURL(URL.createObjectURL(new Blob(["fine"])))],
  [
    "an observer that is disconnected",
    () => {
      const observer = new MutationObserver(noop);
      observer.observe(document.body, { childList: true });
      observer.disconnect();
    },
  ],
  [
    "an observer that unobserves",
    () => {
      const observer = new ResizeObserver(noop);
      observer.observe(document.body);
      observer.unobserve(document.body);
    },
  ],
  ["an observer of a removed element", () => new IntersectionObserver(noop).observe(document.createElement("div"))],
  [
    "an element that is removed",
    () => {
      const element = document.createElement("div");
      document.body.append(element);
      element.remove();
    },
  ],
];

describe("watchLeaks", () => {
  it.each(leaks)("reports %s", (_, screen, message) => {
    const [firstLeak, ...otherLeaks] = findLeaks(screen);
    expect(firstLeak).toContain(`${String(rounds)} × ${message}`);
    expect(otherLeaks).toEqual([]);
  });

  it.each(harmlessEffects)("ignores %s", (_, screen) => {
    expect(findLeaks(screen)).toEqual([]);
  });

  it("reports where a resource was created", () => {
    expect(findLeaks(() => document.body.addEventListener("click", () => undefined))[0]).toMatch(
      /, the last at .*leaks\.test\.ts:\d+/,
    );
  });

  it("reports a timeout that fires after the unmount", async () => {
    const watch = watchLeaks();
    const baseline = watch.listHeldResources();
    await Promise.all(
      Array.from({ length: 2 }, async () => {
        const timerDone = new Promise<void>((resolve) => setTimeout(resolve, 1));
        watch.handleUnmount();
        await timerDone;
      }),
    );
    expect(findGrowth(baseline, watch.listHeldResources())).toEqual([expect.stringContaining("2 × timeout")]);
    watch.stop();
  });

  it("ignores a timeout that fires before the unmount", async () => {
    const watch = watchLeaks();
    const baseline = watch.listHeldResources();
    for (let round = 0; round < 2; round++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      watch.handleUnmount();
    }
    expect(findGrowth(baseline, watch.listHeldResources())).toEqual([]);
    watch.stop();
  });

  it("calls each listener once, and restores all functions", () => {
    const names = [
      "addEventListener",
      "removeEventListener",
      "setTimeout",
      "requestAnimationFrame",
      "Worker",
      "BroadcastChannel",
      "ResizeObserver",
      "MutationObserver",
    ];
    const originals = names.map((name) => Object.getOwnPropertyDescriptor(window, name)?.value as unknown);
    const { addEventListener } = EventTarget.prototype;
    const { observe } = MutationObserver.prototype;
    const watch = watchLeaks();
    const onClick = jest.fn();
    document.addEventListener("click", onClick, { once: true });
    document.addEventListener("click", onClick, { once: true });
    document.body.click();
    document.body.click();
    watch.stop();
    expect(onClick).toHaveBeenCalledTimes(1);
    expect(names.map((name) => Object.getOwnPropertyDescriptor(window, name)?.value as unknown)).toEqual(originals);
    expect(EventTarget.prototype.addEventListener).toBe(addEventListener);
    expect(MutationObserver.prototype.observe).toBe(observe);
    expect(URL).not.toHaveProperty("createObjectURL");
  });
});
