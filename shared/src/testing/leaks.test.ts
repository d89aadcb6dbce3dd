import { QueryClient, QueryObserver } from "@tanstack/react-query";

import { grown, watchLeaks } from "./leaks.ts";

const rounds = 3;
const nothing = () => undefined;

/** While a screen is tried: what begins itself anew stops with it. */
let isOn = false;

/** What a watch tells of a screen that does this each time that it is there. */
function leftBy(screen: (round: number) => void): string[] {
  const watch = watchLeaks();
  isOn = true;
  try {
    screen(0);
    watch.screenGone();
    const before = watch.held();
    for (let round = 1; round <= rounds; round++) {
      screen(round);
      watch.screenGone();
    }
    return grown(before, watch.held());
  } finally {
    watch.stop();
    isOn = false;
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
  ["an interval", () => setInterval(nothing, 1_000), "interval, the last of 1000 ms"],
  ["a timeout", () => window.setTimeout(nothing, 60_000), "timeout, the last of 60000 ms"],
  [
    "an animation that goes on",
    () => {
      const next = () => {
        if (isOn) requestAnimationFrame(next);
      };
      next();
    },
    "animation frame",
  ],
  [
    "a query that polls",
    () =>
      new QueryObserver(new QueryClient(), { queryKey: ["leak"], queryFn: () => 1, refetchInterval: 5_000 }).subscribe(
        nothing,
      ),
    "interval, the last of 5000 ms",
  ],
  ["a worker", () => new Worker("blob:worker"), "Worker"],
  ["a channel", () => new BroadcastChannel("leak"), "BroadcastChannel"],
  ["the address of a blob", () => URL.createObjectURL(new Blob(["leak"])), "object URL"],
  [
    "an observer of changes of the body",
    () => new MutationObserver(nothing).observe(document.body, { childList: true }),
    "MutationObserver of <body>",
  ],
  [
    "an observer of the size of the body",
    () => new ResizeObserver(nothing).observe(document.body),
    "ResizeObserver of <body>",
  ],
  [
    "an observer of what is in sight of the page",
    () => new IntersectionObserver(nothing).observe(document.documentElement),
    "IntersectionObserver of <html>",
  ],
  ["an element at the end of the body", () => document.body.append(document.createElement("div")), "<div> in <body>"],
  ["a style in the head", () => document.head.append(document.createElement("style")), "<style> in <head>"],
];

const listener = () => undefined;
let rolling: ReturnType<typeof setTimeout> | undefined;

const fine: readonly (readonly [string, (round: number) => void])[] = [
  [
    "a listener that is taken away",
    () => {
      window.addEventListener("resize", nothing);
      window.removeEventListener("resize", nothing);
    },
  ],
  [
    "a listener that is taken away by the prototype's function",
    () => {
      document.addEventListener("click", nothing, { capture: true });
      EventTarget.prototype.removeEventListener.call(document, "click", nothing, true);
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
      document.addEventListener("focus", nothing, { once: true });
      document.removeEventListener("focus", nothing);
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
  ["an interval that is cleared", () => clearInterval(setInterval(nothing, 1_000))],
  ["an interval that is cleared as a timeout", () => clearTimeout(setInterval(nothing, 1_000))],
  ["a timeout that is cleared", () => clearTimeout(setTimeout(nothing, 60_000))],
  [
    "a timeout that the next screen clears",
    () => {
      clearTimeout(rolling);
      rolling = setTimeout(nothing, 60_000);
    },
  ],
  ["an animation that is cancelled", () => cancelAnimationFrame(requestAnimationFrame(nothing))],
  [
    "a query that its cache will forget",
    () =>
      new QueryObserver(new QueryClient(), {
        queryKey: ["fine"],
        queryFn: () => 1,
        enabled: false,
        gcTime: 60_000,
      }).subscribe(nothing)(),
  ],
  ["a worker that is ended", () => new Worker("blob:worker").terminate()],
  ["a channel that is closed", () => new BroadcastChannel("fine").close()],
  ["the address of a blob that is revoked", () => URL.revokeObjectURL(URL.createObjectURL(new Blob(["fine"])))],
  [
    "an observer that is disconnected",
    () => {
      const observer = new MutationObserver(nothing);
      observer.observe(document.body, { childList: true });
      observer.disconnect();
    },
  ],
  [
    "an observer that no longer looks",
    () => {
      const observer = new ResizeObserver(nothing);
      observer.observe(document.body);
      observer.unobserve(document.body);
    },
  ],
  [
    "an observer of an element that goes",
    () => new IntersectionObserver(nothing).observe(document.createElement("div")),
  ],
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
  it.each(leaks)("tells of %s", (_, screen, sentence) => {
    const [first, ...others] = leftBy(screen);
    expect(first).toContain(`${String(rounds)} × ${sentence}`);
    expect(others).toEqual([]);
  });

  it.each(fine)("does not tell of %s", (_, screen) => {
    expect(leftBy(screen)).toEqual([]);
  });

  it("tells where it began", () => {
    expect(leftBy(() => document.body.addEventListener("click", () => undefined))[0]).toMatch(
      /, the last at .*leaks\.test\.ts:\d+/,
    );
  });

  it("tells of a timeout that comes when its screen has gone, though it is over by then", async () => {
    const watch = watchLeaks();
    const before = watch.held();
    await Promise.all(
      Array.from({ length: 2 }, async () => {
        const ran = new Promise<void>((resolve) => setTimeout(resolve, 1));
        watch.screenGone();
        await ran;
      }),
    );
    expect(grown(before, watch.held())).toEqual([expect.stringContaining("2 × timeout")]);
    watch.stop();
  });

  it("tells nothing of a timeout that came while its screen was there", async () => {
    const watch = watchLeaks();
    const before = watch.held();
    for (let round = 0; round < 2; round++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      watch.screenGone();
    }
    expect(grown(before, watch.held())).toEqual([]);
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
    const before = names.map((name) => Object.getOwnPropertyDescriptor(window, name)?.value as unknown);
    const { addEventListener } = EventTarget.prototype;
    const { observe } = MutationObserver.prototype;
    const watch = watchLeaks();
    const heard = jest.fn();
    document.addEventListener("click", heard, { once: true });
    document.addEventListener("click", heard, { once: true });
    document.body.click();
    document.body.click();
    watch.stop();
    expect(heard).toHaveBeenCalledTimes(1);
    expect(names.map((name) => Object.getOwnPropertyDescriptor(window, name)?.value as unknown)).toEqual(before);
    expect(EventTarget.prototype.addEventListener).toBe(addEventListener);
    expect(MutationObserver.prototype.observe).toBe(observe);
    expect(URL).not.toHaveProperty("createObjectURL");
  });
});
