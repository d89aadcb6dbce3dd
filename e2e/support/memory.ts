import type { Page } from "@playwright/test";
import { z } from "zod";

import { attachTargets } from "./devtools-targets.ts";

export interface MemoryWatch {
  /** Peak bytes of heaps, array buffers and WASM memories: page, the vault's frame and workers. */
  readonly stop: () => Promise<{
    readonly peakBytes: number;
    readonly bytesByTarget: Readonly<Record<string, number>>;
  }>;
}

const Usage = z.object({
  usedSize: z.number(),
  /** Array buffers and WASM memories; absent in older browsers. */
  backingStorageSize: z.number().default(0),
});

const pollIntervalMs = 100;

/**
 * Polls page, frame and workers by the DevTools protocol. Must start before the workers. Earlier
 * garbage of the page is collected first; later garbage counts.
 */
export async function watchMemory(page: Page): Promise<MemoryWatch> {
  const cdp = await page.context().newCDPSession(page);
  const listTargets = await attachTargets(cdp);
  await cdp.send("HeapProfiler.collectGarbage");
  let peak = 0;
  let parts: Record<string, number> = {};
  const abortController = new AbortController();
  const polling = (async () => {
    while (!abortController.signal.aborted) {
      const sizes = await Promise.all(
        listTargets().map(async ({ name, request }) => {
          const usage = Usage.safeParse(await request("Runtime.getHeapUsage")).data;
          return [name, (usage?.usedSize ?? 0) + (usage?.backingStorageSize ?? 0)] as const;
        }),
      );
      const sum = sizes.reduce((total, [, size]) => total + size, 0);
      if (sum > peak) {
        peak = sum;
        parts = {};
        for (const [name, size] of sizes) parts[name] = (parts[name] ?? 0) + size;
      }
      await new Promise((resolve) => setTimeout(resolve, pollIntervalMs));
    }
  })();
  return {
    stop: async () => {
      abortController.abort();
      await polling;
      await cdp.detach().catch(() => undefined); // gone with its page
      return { peakBytes: peak, bytesByTarget: parts };
    },
  };
}

/** Milliseconds of the longest task of the page's main thread. */
export interface LongestTask {
  /** Processor time that the thread spent on the page. */
  readonly threadTime: number;
  /**
   * From start to end. With other programs on two cores, it is mostly the time in which those ran.
   */
  readonly wallTime: number;
}

const TraceEvent = z.object({
  name: z.string(),
  pid: z.number(),
  tid: z.number(),
  ts: z.number(),
  dur: z.number().default(0),
  tdur: z.number().default(0),
  args: z.object({ name: z.string().optional() }),
});
type TraceEvent = z.infer<typeof TraceEvent>;

/**
 * Event of the browser's copy of each response body for network observers, as Playwright always is.
 * Copying 4 MiB takes 15 ms, against 0.3 ms without observers.
 */
const observerEvent = "ResponseBodyLoader::DidFinishLoadingBody";

/**
 * Records every task of the page's main thread in the browser's trace. Counts the thread's
 * processor time, because a task of 10 ms takes 100 ms of the clock on shared cores. Leaves out the
 * work for the observer.
 */
export async function watchTasks(page: Page): Promise<() => Promise<LongestTask>> {
  const cdp = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  cdp.on("Tracing.dataCollected", ({ value }) => {
    for (const event of value) {
      const { data } = TraceEvent.safeParse(event);
      if (data !== undefined && ["thread_name", "ThreadControllerImpl::RunTask", observerEvent].includes(data.name))
        events.push(data);
    }
  });
  await cdp.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: {
      includedCategories: ["toplevel", "blink"],
      excludedCategories: ["*"],
      recordMode: "recordContinuously",
    },
  });
  return async () => {
    const complete = new Promise<void>((resolve) => {
      cdp.once("Tracing.tracingComplete", () => {
        resolve();
      });
    });
    await cdp.send("Tracing.end");
    await complete;
    await cdp.detach();
    const threadOf = ({ pid, tid }: TraceEvent): string => `${String(pid)} ${String(tid)}`;
    const mainThreads = new Set(
      events.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain").map(threadOf),
    );
    const tasks = events.filter(
      (event) => event.name === "ThreadControllerImpl::RunTask" && mainThreads.has(threadOf(event)),
    );
    if (tasks.length === 0) throw new TypeError("the trace shows no task of a main thread");
    const observerEvents = events.filter((event) => event.name === observerEvent);
    const threadTimeOf = (task: TraceEvent): number =>
      observerEvents
        .filter((event) => threadOf(event) === threadOf(task) && event.ts >= task.ts && event.ts < task.ts + task.dur)
        .reduce((rest, event) => rest - event.tdur, task.tdur);
    const longestOf = (measure: (task: TraceEvent) => number): number =>
      tasks.reduce((peak, task) => Math.max(peak, measure(task)), 0) / 1000;
    return { threadTime: longestOf(threadTimeOf), wallTime: longestOf(({ dur }) => dur) };
  };
}
