import type { Page } from "@playwright/test";

/** V8 cuts a longer string there in a snapshot. */
export const heapStringLimit = 1_024;

/**
 * The snapshot of the page's JavaScript heap, after garbage was collected: JSON with every string
 * that the page can still reach.
 */
export async function takeHeapSnapshot(page: Page): Promise<string> {
  const cdp = await page.context().newCDPSession(page);
  const chunks: string[] = [];
  cdp.on("HeapProfiler.addHeapSnapshotChunk", ({ chunk }) => chunks.push(chunk));
  await cdp.send("HeapProfiler.collectGarbage");
  await cdp.send("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
  await cdp.detach();
  return chunks.join("");
}
