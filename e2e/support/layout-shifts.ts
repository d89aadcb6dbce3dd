import { expect, type Page } from "@playwright/test";

/**
 * As the browser counts it: the part of the window that was moved, times how far, in parts of the
 * window.
 */
const maxShift = 0.005;

/**
 * Loads the page, waits until it asks for nothing and loads nothing any more, and judges by how
 * much it has moved what was there already. A path that leads to another one is not judged: the
 * frame may be another one there. The story goes on, to name every screen that moves.
 */
export async function expectNoShift(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await page.waitForLoadState("networkidle");
  await expect(page.locator("main [aria-busy='true']")).toHaveCount(0);
  if (new URL(page.url()).pathname !== path) return;
  const shifts = await page.evaluate(readShifts);
  const sum = shifts.reduce((total, { value }) => total + value, 0);
  expect
    .soft(sum, `${path} moves by itself: ${shifts.flatMap(({ movedNodes }) => movedNodes).join("; ")}`)
    .toBeLessThanOrEqual(maxShift);
}

/** An entry of https://wicg.github.io/layout-instability, which only Chromium has. */
interface LayoutShift extends PerformanceEntry {
  readonly value: number;
  /** A key, a click or a touch came shortly before. */
  readonly hadRecentInput: boolean;
  readonly sources: readonly {
    readonly node: Node | null;
    readonly previousRect: DOMRectReadOnly;
    readonly currentRect: DOMRectReadOnly;
  }[];
}

/** Runs in the page: what moved since it was loaded, from where to where. */
function readShifts(): { readonly value: number; readonly movedNodes: readonly string[] }[] {
  const isShift = (entry: PerformanceEntry): entry is LayoutShift => entry.entryType === "layout-shift";
  const observer = new PerformanceObserver(() => undefined);
  observer.observe({ type: "layout-shift", buffered: true });
  return observer
    .takeRecords()
    .filter(isShift)
    .filter(({ hadRecentInput }) => !hadRecentInput)
    .map(({ value, sources }) => ({
      value,
      movedNodes: sources.map(
        ({ node, previousRect, currentRect }) =>
          `${node?.textContent?.slice(0, 60) ?? "?"}, ${String(previousRect.y)} to ${String(currentRect.y)}`,
      ),
    }));
}
