import type { MetricType } from "web-vitals";

import type { Vital } from "./telemetry.ts";

export interface VitalsDeps {
  /** The screen that was shown at that time of the page's clock, in milliseconds. */
  readonly findScreen: (time: number) => Pick<Vital, "remote" | "release" | "route"> | null;
  readonly recordVital: (vital: Vital) => void;
}

/**
 * Measures the page from now on; the browser tells what it had noted before, so that the library
 * can come after the first screen. Each value counts for the screen that it is about: the one with
 * the slowest interaction or the largest shift, else the first.
 */
export async function watchVitals({ findScreen, recordVital }: VitalsDeps): Promise<void> {
  const { onCLS, onFCP, onINP, onLCP, onTTFB } = await import(/* webpackChunkName: "vitals" */ "web-vitals");
  const report = ({ name, value, entries }: MetricType): void => {
    const screen = findScreen(name === "INP" || name === "CLS" ? (entries[0]?.startTime ?? 0) : 0);
    if (screen !== null) recordVital({ ...screen, metric: name, value: name === "CLS" ? value * 1_000 : value });
  };
  for (const observe of [onCLS, onFCP, onINP, onLCP, onTTFB]) observe(report);
}

/** Which screen was shown when. */
export class ScreenHistory {
  readonly #visits: { readonly since: number; readonly pathname: string }[] = [];

  record(pathname: string, now: number): void {
    if (this.#visits.at(-1)?.pathname === pathname) return;
    this.#visits.push({ since: this.#visits.length === 0 ? 0 : now, pathname });
  }

  findAt(time: number): string | null {
    return this.#visits.findLast(({ since }) => since <= time)?.pathname ?? null;
  }
}
