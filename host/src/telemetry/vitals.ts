import type { MetricType } from "web-vitals";

import type { Vital } from "./telemetry.ts";

export interface VitalsDeps {
  /** The screen shown at this time of the page's clock, in milliseconds. */
  readonly findScreen: (time: number) => Pick<Vital, "remote" | "release" | "route"> | null;
  readonly recordVital: (vital: Vital) => void;
}

/**
 * Measures web vitals. May start after the first screen, because the browser has buffered earlier
 * entries. INP counts for the screen with the slowest interaction, CLS for the screen with the
 * largest shift, every other value for the first screen.
 */
export async function watchVitals({ findScreen, recordVital }: VitalsDeps): Promise<void> {
  const { onCLS, onFCP, onINP, onLCP, onTTFB } = await import(/* webpackChunkName: "vitals" */ "web-vitals");
  const report = ({ name, value, entries }: MetricType): void => {
    const screen = findScreen(name === "INP" || name === "CLS" ? (entries[0]?.startTime ?? 0) : 0);
    if (screen !== null) recordVital({ ...screen, metric: name, value: name === "CLS" ? value * 1_000 : value });
  };
  for (const observe of [onCLS, onFCP, onINP, onLCP, onTTFB]) observe(report);
}

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
