import type { MetricType } from "web-vitals";

import type { Vital } from "./telemetry.ts";

export interface VitalsDeps {
  /** The screen that was shown at that time of the page's clock, in milliseconds. */
  readonly screenAt: (time: number) => Pick<Vital, "remote" | "release" | "route"> | null;
  readonly add: (vital: Vital) => void;
}

/**
 * Measures the page from now on; the browser tells what it had noted before, so that the library
 * can come after the first screen. Each value counts for the screen that it is about: the one with
 * the slowest interaction or the largest shift, else the first.
 */
export async function watchVitals({ screenAt, add }: VitalsDeps): Promise<void> {
  const { onCLS, onFCP, onINP, onLCP, onTTFB } = await import(/* webpackChunkName: "vitals" */ "web-vitals");
  const report = ({ name, value, entries }: MetricType): void => {
    const screen = screenAt(name === "INP" || name === "CLS" ? (entries[0]?.startTime ?? 0) : 0);
    if (screen !== null) add({ ...screen, metric: name, value: name === "CLS" ? value * 1_000 : value });
  };
  for (const watch of [onCLS, onFCP, onINP, onLCP, onTTFB]) watch(report);
}

/** Which screen was shown when. */
export class ScreenHistory {
  readonly #shown: { readonly from: number; readonly pathname: string }[] = [];

  show(pathname: string, now: number): void {
    if (this.#shown.at(-1)?.pathname === pathname) return;
    this.#shown.push({ from: this.#shown.length === 0 ? 0 : now, pathname });
  }

  at(time: number): string | null {
    return this.#shown.findLast(({ from }) => from <= time)?.pathname ?? null;
  }
}
