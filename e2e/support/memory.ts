import type { CDPSession, Page } from "@playwright/test";

/** The most that was seen of a page and its workers. */
export interface MemoryWatch {
  /** Bytes: used JavaScript heaps, array buffers and WASM memories, of the page and all its workers together. */
  readonly most: () => number;
  readonly stop: () => Promise<number>;
}

interface Usage {
  readonly usedSize: number;
  /** Array buffers and WASM memories; absent in older browsers. */
  readonly backingStorageSize?: number;
}

/** Asks page and workers again and again, by the DevTools protocol. Start it before the workers start. */
export async function watchMemory(page: Page): Promise<MemoryWatch> {
  const cdp = await page.context().newCDPSession(page);
  const workers = await attachWorkers(cdp);
  let most = 0;
  const stopping = new AbortController();
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      const usages = await Promise.all([cdp.send("Runtime.getHeapUsage"), ...workers.usages()]).catch(() => []); // a page that is closed
      most = Math.max(most, usages.reduce((sum, usage: Usage | null) => sum + (usage?.usedSize ?? 0) + (usage?.backingStorageSize ?? 0), 0));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return {
    most: () => most,
    stop: async () => {
      stopping.abort();
      await watching;
      await cdp.detach().catch(() => undefined); // gone with its page
      return most;
    },
  };
}

/** Sessions of the page's workers. Playwright's own are not for everybody's commands, so messages are wrapped by hand. */
async function attachWorkers(cdp: CDPSession): Promise<{ usages: () => Promise<Usage | null>[] }> {
  const sessions = new Set<string>();
  const waiting = new Map<number, (usage: Usage | null) => void>();
  let next = 1;
  cdp.on("Target.attachedToTarget", ({ sessionId, targetInfo }) => {
    if (targetInfo.type === "worker") sessions.add(sessionId);
  });
  cdp.on("Target.detachedFromTarget", ({ sessionId }) => {
    sessions.delete(sessionId);
    for (const answer of waiting.values()) answer(null);
    waiting.clear();
  });
  cdp.on("Target.receivedMessageFromTarget", ({ message }) => {
    const { id, result } = JSON.parse(message) as { id: number; result?: Usage };
    waiting.get(id)?.(result ?? null);
    waiting.delete(id);
  });
  await cdp.send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: false, flatten: false });
  return {
    usages: () =>
      [...sessions].map(
        (sessionId) =>
          new Promise((resolve) => {
            const id = next++;
            waiting.set(id, resolve);
            cdp.send("Target.sendMessageToTarget", { sessionId, message: JSON.stringify({ id, method: "Runtime.getHeapUsage" }) }).catch(() => {
              resolve(null); // a worker that has just ended
            });
          }),
      ),
  };
}

declare global {
  var longestTask: number | undefined;
}

/** Begins to note tasks of the page's main thread that are longer than 50 ms, from now on. */
export async function watchTasks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    globalThis.longestTask = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) globalThis.longestTask = Math.max(globalThis.longestTask ?? 0, duration);
    }).observe({ type: "longtask", buffered: false });
  });
  return () => page.evaluate(() => globalThis.longestTask ?? 0);
}
