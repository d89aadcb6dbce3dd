import type { Locator, Page } from "@playwright/test";

/** One click and its next paint; milliseconds, which the browser rounds to 8. */
export interface Interaction {
  /**
   * From the press or the release to the paint that follows, the longer one, as Interaction to Next
   * Paint counts it.
   */
  readonly duration: number;
  /** Before the handlers of the longest event ran. */
  readonly inputDelay: number;
  /** While handlers of all its events ran; most of the rest is drawing. */
  readonly processingTime: number;
}

/**
 * Shorter events the browser does not tell; an interaction of which it tells nothing counts as
 * this.
 */
const minDuration = 16;

interface RecordedEvent extends Interaction {
  readonly name: string;
  readonly interaction: number;
}

/** Makes every page that is loaded from now on note its events. */
export async function recordEvents(page: Page): Promise<void> {
  await page.addInitScript((durationThreshold) => {
    const recordedEvents: RecordedEvent[] = [];
    Object.assign(globalThis, { notedEvents: recordedEvents });
    const options: PerformanceObserverInit & { readonly durationThreshold: number } = {
      type: "event",
      durationThreshold,
      buffered: true,
    };
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if (!(entry instanceof PerformanceEventTiming)) continue;
        const { name, duration, startTime, processingStart, processingEnd, interactionId: interaction } = entry;
        recordedEvents.push({
          name,
          interaction,
          duration,
          inputDelay: processingStart - startTime,
          processingTime: processingEnd - processingStart,
        });
      }
    }).observe(options);
  }, minDuration);
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
  const result = await page.evaluate(async () => {
    const { notedEvents } = globalThis as unknown as { notedEvents: readonly RecordedEvent[] };
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
  const firstInteraction = result.events[0]?.interaction;
  if (result.events.some(({ interaction }) => interaction !== firstInteraction))
    throw new Error("this was not the first click of the page");
  const longest = result.events.toSorted((a, b) => b.duration - a.duration)[0];
  const processingTime = result.events.reduce((total, event) => total + event.processingTime, 0);
  return { duration: longest?.duration ?? minDuration, inputDelay: longest?.inputDelay ?? 0, processingTime };
}
