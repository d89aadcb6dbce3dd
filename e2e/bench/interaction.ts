import type { Locator, Page } from "@playwright/test";

/** One click and its next paint; milliseconds, which the browser rounds to 8. */
export interface Interaction {
  /**
   * From the press or the release to the paint that follows, the longer one, as Interaction to Next
   * Paint counts it.
   */
  readonly duration: number;
  /** Before the handlers of the longest event ran. */
  readonly waited: number;
  /** While handlers of all its events ran; most of the rest is drawing. */
  readonly handled: number;
}

/**
 * Shorter events the browser does not tell; an interaction of which it tells nothing counts as
 * this.
 */
const shortest = 16;

interface NotedEvent extends Interaction {
  readonly name: string;
  readonly interaction: number;
}

/** Makes every page that is loaded from now on note its events. */
export async function noteEvents(page: Page): Promise<void> {
  await page.addInitScript((durationThreshold) => {
    const noted: NotedEvent[] = [];
    Object.assign(globalThis, { notedEvents: noted });
    const options: PerformanceObserverInit & { readonly durationThreshold: number } = {
      type: "event",
      durationThreshold,
      buffered: true,
    };
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if (!(entry instanceof PerformanceEventTiming)) continue;
        const { name, duration, startTime, processingStart, processingEnd, interactionId: interaction } = entry;
        noted.push({
          name,
          interaction,
          duration,
          waited: processingStart - startTime,
          handled: processingEnd - processingStart,
        });
      }
    }).observe(options);
  }, shortest);
}

/**
 * Clicks as a mouse does, without a look at the page in between, until `outcome` is there.
 * @throws Error when the page had an interaction before
 */
export async function measureClick(page: Page, target: Locator, outcome: Locator): Promise<Interaction> {
  await target.scrollIntoViewIfNeeded();
  const box = await target.boundingBox();
  if (box === null) throw new Error("what is to be clicked is not shown");
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await outcome.waitFor();
  const noted = await page.evaluate(async () => {
    const { notedEvents } = globalThis as unknown as { notedEvents: readonly NotedEvent[] };
    // What was noted comes with the paint; a click shorter than is told never does, and a second of
    // frames is enough to know.
    for (
      let frame = 0;
      frame < 60 && !notedEvents.some(({ name, interaction }) => name === "click" && interaction > 0);
      frame += 1
    )
      await new Promise(requestAnimationFrame);
    return { events: notedEvents.filter(({ interaction }) => interaction > 0) };
  });
  const first = noted.events[0]?.interaction;
  if (noted.events.some(({ interaction }) => interaction !== first))
    throw new Error("this was not the first click of the page");
  const longest = noted.events.toSorted((a, b) => b.duration - a.duration)[0];
  const handled = noted.events.reduce((total, event) => total + event.handled, 0);
  return { duration: longest?.duration ?? shortest, waited: longest?.waited ?? 0, handled };
}
