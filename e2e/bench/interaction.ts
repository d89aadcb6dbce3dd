import type { Locator, Page } from "@playwright/test";

/** One click and its next paint; milliseconds, which the browser rounds to 8. */
export interface Interaction {
  /**
   * From press or release to the next paint, the longer one, as Interaction to Next Paint counts
   * it.
   */
  readonly duration: number;
  /** Time before the handlers of the longest event ran. */
  readonly inputDelay: number;
  /** Time in which handlers of all its events ran; most of the rest is drawing. */
  readonly processingTime: number;
}

/**
 * Milliseconds. The browser reports no shorter events; an unreported interaction counts as this.
 */
const minDurationMs = 16;

interface RecordedEvent extends Interaction {
  readonly name: string;
  readonly interaction: number;
}

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
  }, minDurationMs);
}

/**
 * Clicks with the mouse and waits for `outcome`, without reading the page in between.
 * @throws Error when the page had an interaction before
 */
export async function measureClick(page: Page, target: Locator, outcome: Locator): Promise<Interaction> {
  await target.scrollIntoViewIfNeeded();
  const box = await target.boundingBox();
  if (box === null) throw new Error("the target is not shown");
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await outcome.waitFor();
  const result = await page.evaluate(async () => {
    const { notedEvents } = globalThis as unknown as { notedEvents: readonly RecordedEvent[] };
    // Events are reported with the paint. A click that is too short is never reported, which a
    // second of frames shows.
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
  return { duration: longest?.duration ?? minDurationMs, inputDelay: longest?.inputDelay ?? 0, processingTime };
}
