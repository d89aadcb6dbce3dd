import { expect, type Page } from "@playwright/test";

import { startingElements } from "./starting-elements.ts";

/**
 * Largest layout shift that counts as none. Browsers compute it as moved part of the window times
 * distance, both as fractions of the window.
 */
const maxShift = 0.005;

/**
 * Loads a page and expects no shift of what was shown. Skips paths that redirect, whose frame may
 * differ. A failed expectation lets the test continue, so that it names every screen that shifts.
 */
export async function expectNoShift(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await page.waitForLoadState("networkidle");
  await expect(page.locator("main [aria-busy='true']")).toHaveCount(0);
  await expect(startingElements(page)).toHaveCount(0);
  if (new URL(page.url()).pathname !== path) return;
  const shifts = await page.evaluate(readShifts);
  const sum = shifts.reduce((total, { value }) => total + value, 0);
  expect
    .soft(sum, `${path} shifts: ${shifts.flatMap(({ movedNodes }) => movedNodes).join("; ")}`)
    .toBeLessThanOrEqual(maxShift);
}

/** An entry of https://wicg.github.io/layout-instability, which only Chromium has. */
interface LayoutShift extends PerformanceEntry {
  readonly value: number;
  /** Follows a key, a click or a touch. */
  readonly hadRecentInput: boolean;
  readonly sources: readonly {
    readonly node: Node | null;
    readonly previousRect: DOMRectReadOnly;
    readonly currentRect: DOMRectReadOnly;
  }[];
}

/** Runs in the page: shifts since it was loaded, with the positions of what moved. */
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
