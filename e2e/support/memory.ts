import type { CDPSession, Page } from "@playwright/test";
import { z } from "zod";

/** What a page and its workers held when they held most. */
export interface MemoryWatch {
  /**
   * Bytes: used JavaScript heaps, array buffers and WASM memories, of the page and all its workers
   * together.
   */
  readonly stop: () => Promise<{ readonly peak: number; readonly parts: Readonly<Record<string, number>> }>;
}

interface Usage {
  readonly usedSize: number;
  /** Array buffers and WASM memories; absent in older browsers. */
  readonly backingStorageSize?: number;
}

const pollIntervalMs = 100;

/**
 * Asks page and workers again and again, by the DevTools protocol. Start it before the workers
 * start. The page's garbage of what went before is collected first; what comes from now on counts
 * with its garbage.
 */
export async function watchMemory(page: Page): Promise<MemoryWatch> {
  const cdp = await page.context().newCDPSession(page);
  const workers = await attachWorkers(cdp);
  await cdp.send("HeapProfiler.collectGarbage");
  let peak = 0;
  let parts: Record<string, number> = {};
  const abortController = new AbortController();
  const polling = (async () => {
    while (!abortController.signal.aborted) {
      const usages = await Promise.all([
        cdp.send("Runtime.getHeapUsage").then((usage) => ["page", usage] as const),
        ...workers.usages(),
      ]).catch(() => []); // a page that is closed
      const sizes = usages.map(
        ([name, usage]) => [name, (usage?.usedSize ?? 0) + (usage?.backingStorageSize ?? 0)] as const,
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
      return { peak, parts };
    },
  };
}

/**
 * Sessions of the page's workers. Playwright's own are not for everybody's commands, so messages
 * are wrapped by hand.
 */
async function attachWorkers(
  cdp: CDPSession,
): Promise<{ usages: () => Promise<readonly [name: string, usage: Usage | null]>[] }> {
  const sessions = new Map<string, string>();
  const pendingReplies = new Map<number, (usage: Usage | null) => void>();
  let nextId = 1;
  cdp.on("Target.attachedToTarget", ({ sessionId, targetInfo }) => {
    if (targetInfo.type === "worker") sessions.set(sessionId, targetInfo.title);
  });
  cdp.on("Target.detachedFromTarget", ({ sessionId }) => {
    sessions.delete(sessionId);
    for (const reply of pendingReplies.values()) reply(null);
    pendingReplies.clear();
  });
  cdp.on("Target.receivedMessageFromTarget", ({ message }) => {
    const { id, result } = JSON.parse(message) as { id: number; result?: Usage };
    pendingReplies.get(id)?.(result ?? null);
    pendingReplies.delete(id);
  });
  await cdp.send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: false, flatten: false });
  return {
    usages: () =>
      [...sessions].map(
        ([sessionId, name]) =>
          new Promise((resolve) => {
            const id = nextId++;
            pendingReplies.set(id, (usage) => {
              resolve([name, usage]);
            });
            cdp
              .send("Target.sendMessageToTarget", {
                sessionId,
                message: JSON.stringify({ id, method: "Runtime.getHeapUsage" }),
              })
              .catch(() => {
                resolve([name, null]); // a worker that has just ended
              });
          }),
      ),
  };
}

/** Milliseconds of the longest task of the page's main thread. */
export interface LongestTask {
  /** That the thread itself worked for the page. */
  readonly threadTime: number;
  /**
   * From its beginning to its end: with other programs on two cores mostly the time in which they
   * had them.
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
 * Each body that has come is copied for whoever observes the network, which Playwright always does:
 * 15 ms for 4 MiB, and 0.3 without it.
 */
const observerEvent = "ResponseBodyLoader::DidFinishLoadingBody";

/**
 * Notes every task of the page's main thread from now on, in the browser's trace. What counts is
 * the processor time of the thread in it, without what it did for the observer: on a machine whose
 * cores are shared a task of 10 ms takes 100 ms of the clock, whoever wrote it.
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
