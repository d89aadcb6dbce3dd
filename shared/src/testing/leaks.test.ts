import { QueryClient, QueryObserver } from "@tanstack/react-query";

import { findGrowth, watchLeaks } from "./leaks.ts";

const rounds = 3;
const noop = () => undefined;

/** While a screen is tried: what begins itself anew stops with it. */
let isRunning = false;

/** What a watch tells of a screen that does this each time that it is there. */
function findLeaks(screen: (round: number) => void): string[] {
  const watch = watchLeaks();
  isRunning = true;
  try {
    screen(0);
    watch.handleUnmount();
    const baseline = watch.listHeld();
    for (let round = 1; round <= rounds; round++) {
      screen(round);
      watch.handleUnmount();
    }
    return findGrowth(baseline, watch.listHeld());
  } finally {
    watch.stop();
    isRunning = false;
    document.body.replaceChildren();
  }
}

const leaks: readonly (readonly [string, () => void, string])[] = [
  ["a listener of the window", () => window.addEventListener("resize", () => undefined), 'listener "resize" of window'],
  [
    "a listener of the window by the prototype's function",
    () => EventTarget.prototype.addEventListener.call(window, "resize", () => undefined),
    'listener "resize" of window',
  ],
  [
    "a listener of the window without its name",
    () => addEventListener("resize", () => undefined),
    'listener "resize" of window',
  ],
  [
    "a listener of the document, while it captures",
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
    "a listener for one time that never comes",
    () => document.addEventListener("click", () => undefined, { once: true }),
    'listener "click" of document',
  ],
  [
    "a listener whose signal is never given",
    () => document.addEventListener("click", () => undefined, { signal: new AbortController().signal }),
    'listener "click" of document',
  ],
  [
    "a listener that is taken away with another capture",
    () => {
      const listener = () => undefined;
      document.addEventListener("click", listener, true);
      document.removeEventListener("click", listener);
    },
    'listener "click" of document',
  ],
  [
    "another function each time as the window's onresize",
    () => (window.onresize = () => undefined),
    "onresize of window",
  ],
  ["an interval", () => setInterval(noop, 1_000), "interval, the last of 1000 ms"],
  ["a timeout", () => window.setTimeout(noop, 60_000), "timeout, the last of 60000 ms"],
  [
    "an animation that goes on",
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
  ["the address of a blob", () => URL.createObjectURL(new Blob(["leak"])), "object URL"],
  [
    "an observer of changes of the body",
    () => new MutationObserver(noop).observe(document.body, { childList: true }),
    "MutationObserver of <body>",
  ],
  [
    "an observer of the size of the body",
    () => new ResizeObserver(noop).observe(document.body),
    "ResizeObserver of <body>",
  ],
  [
    "an observer of what is in sight of the page",
    () => new IntersectionObserver(noop).observe(document.documentElement),
    "IntersectionObserver of <html>",
  ],
  ["an element at the end of the body", () => document.body.append(document.createElement("div")), "<div> in <body>"],
  ["a style in the head", () => document.head.append(document.createElement("style")), "<style> in <head>"],
];

const listener = () => undefined;
let pendingTimer: ReturnType<typeof setTimeout> | undefined;

const harmless: readonly (readonly [string, (round: number) => void])[] = [
  [
    "a listener that is taken away",
    () => {
      window.addEventListener("resize", noop);
      window.removeEventListener("resize", noop);
    },
  ],
  [
    "a listener that is taken away by the prototype's function",
    () => {
      document.addEventListener("click", noop, { capture: true });
      EventTarget.prototype.removeEventListener.call(document, "click", noop, true);
    },
  ],
  [
    "a listener whose signal is given",
    () => {
      const controller = new AbortController();
      document.body.addEventListener("click", () => undefined, { signal: controller.signal });
      controller.abort();
    },
  ],
  [
    "a listener whose signal was given before",
    () => document.body.addEventListener("click", () => undefined, { signal: AbortSignal.abort() }),
  ],
  [
    "a listener for one time that came",
    () => {
      document.addEventListener("click", () => undefined, { once: true });
      document.body.click();
    },
  ],
  [
    "a listener for one time that is taken away",
    () => {
      document.addEventListener("focus", noop, { once: true });
      document.removeEventListener("focus", noop);
    },
  ],
  ["the same listener again and again", () => document.addEventListener("click", listener)],
  [
    "a listener that is kept from the second time on",
    (round) => round === 1 && document.addEventListener("click", () => undefined),
  ],
  [
    "a listener of an element that goes",
    () => document.createElement("div").addEventListener("click", () => undefined),
  ],
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
    "a query that its cache will forget",
    () =>
      new QueryObserver(new QueryClient(), {
        queryKey: ["fine"],
        queryFn: () => 1,
        enabled: false,
        gcTime: 60_000,
      }).subscribe(noop)(),
  ],
  ["a worker that is ended", () => new Worker("blob:worker").terminate()],
  ["a channel that is closed", () => new BroadcastChannel("fine").close()],
  ["the address of a blob that is revoked", () => URL.revokeObjectURL(URL.createObjectURL(new Blob(["fine"])))],
  [
    "an observer that is disconnected",
    () => {
      const observer = new MutationObserver(noop);
      observer.observe(document.body, { childList: true });
      observer.disconnect();
    },
  ],
  [
    "an observer that no longer looks",
    () => {
      const observer = new ResizeObserver(noop);
      observer.observe(document.body);
      observer.unobserve(document.body);
    },
  ],
  ["an observer of an element that goes", () => new IntersectionObserver(noop).observe(document.createElement("div"))],
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
  it.each(leaks)("tells of %s", (_, screen, message) => {
    const [first, ...others] = findLeaks(screen);
    expect(first).toContain(`${String(rounds)} × ${message}`);
    expect(others).toEqual([]);
  });

  it.each(harmless)("does not tell of %s", (_, screen) => {
    expect(findLeaks(screen)).toEqual([]);
  });

  it("tells where it began", () => {
    expect(findLeaks(() => document.body.addEventListener("click", () => undefined))[0]).toMatch(
      /, the last at .*leaks\.test\.ts:\d+/,
    );
  });

  it("tells of a timeout that comes when its screen has gone, though it is over by then", async () => {
    const watch = watchLeaks();
    const baseline = watch.listHeld();
    await Promise.all(
      Array.from({ length: 2 }, async () => {
        const timerDone = new Promise<void>((resolve) => setTimeout(resolve, 1));
        watch.handleUnmount();
        await timerDone;
      }),
    );
    expect(findGrowth(baseline, watch.listHeld())).toEqual([expect.stringContaining("2 × timeout")]);
    watch.stop();
  });

  it("tells nothing of a timeout that came while its screen was there", async () => {
    const watch = watchLeaks();
    const baseline = watch.listHeld();
    for (let round = 0; round < 2; round++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      watch.handleUnmount();
    }
    expect(findGrowth(baseline, watch.listHeld())).toEqual([]);
    watch.stop();
  });

  it("calls each listener once, and puts all back as it was", () => {
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
