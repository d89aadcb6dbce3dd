import { maxTelemetryEvents, type Telemetry } from "@relicario/shared/api";
import type { RemoteName } from "@relicario/shared/contract";
import type { ErrorCode } from "@relicario/shared/errors";

export type Phase = Telemetry["events"][number]["phase"];
export type Vital = Telemetry["vitals"][number];

/** `unknown` until the account is known; `visitor` where nobody is signed in. */
export type Wish = "yes" | "no" | "visitor" | "unknown";

export interface TelemetryDeps {
  /** Of the call `POST /telemetry`. */
  readonly address: string;
  /** The release that a remote runs, or would; null when the deployment names none. */
  readonly releaseOf: (remote: RemoteName) => string | null;
  readonly wish: () => Wish;
  readonly window: Pick<Window, "addEventListener" | "setTimeout"> & {
    readonly document: Pick<Document, "visibilityState">;
  };
  /** Whether the browser says Global Privacy Control. */
  readonly privacyControl: boolean;
  readonly fetch: typeof globalThis.fetch;
}

/** Tells the service how loads and pages went, by nobody. */
export interface PageTelemetry {
  /**
   * One load of a remote or a page of it with its repetitions, in milliseconds; or a failure later
   * on, which took none.
   */
  readonly loaded: (
    remote: RemoteName,
    phase: Phase,
    outcome: { readonly milliseconds?: number; readonly code?: ErrorCode },
  ) => void;
  readonly measured: (vital: Vital) => void;
}

/** What is noted goes together, so many milliseconds later, or when the page is hidden. */
export const sendAfterMs = 10_000;

/**
 * What is noted waits until it is known whether the person switched this off. Once somebody did,
 * this page sends nothing more as a visitor either. A browser that says Global Privacy Control
 * sends nothing at all.
 */
export function createTelemetry({
  address,
  releaseOf,
  wish,
  window,
  privacyControl,
  fetch,
}: TelemetryDeps): PageTelemetry {
  let events: Telemetry["events"] = [];
  let vitals: Telemetry["vitals"] = [];
  let waiting = false;
  let refused = false;

  const may = (): boolean | null => {
    if (privacyControl) return false;
    const now = wish();
    if (now === "yes" || now === "no") refused = now === "no";
    return now === "unknown" ? null : !refused;
  };

  const send = (): void => {
    const allowed = may();
    if (allowed === null) return;
    const body: Telemetry = { events, vitals };
    [events, vitals] = [[], []];
    if (!allowed || (body.events.length === 0 && body.vitals.length === 0)) return;
    fetch(address, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
      keepalive: true, // the last one of a page is sent while it goes away
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
    }).catch(() => undefined); // not worth another try
  };

  const noted = (): void => {
    if (may() === false) [events, vitals] = [[], []];
    if (waiting || (events.length === 0 && vitals.length === 0)) return;
    waiting = true;
    window.setTimeout(() => {
      waiting = false;
      send();
      noted(); // while nobody knows what the person wishes
    }, sendAfterMs);
  };

  // At the window, after the listeners of the document that note the last values of a page.
  window.addEventListener("visibilitychange", () => {
    if (window.document.visibilityState === "hidden") send();
  });

  return Object.freeze<PageTelemetry>({
    loaded: (remote, phase, { milliseconds, code }) => {
      const release = releaseOf(remote);
      if (release === null || events.length >= maxTelemetryEvents) return;
      events.push({
        remote,
        release,
        phase,
        ...(milliseconds === undefined ? {} : { duration_ms: inLimits(milliseconds) }),
        ...(code === undefined ? {} : { code }),
      });
      noted();
    },
    measured: (vital) => {
      if (vitals.length >= maxTelemetryEvents) return;
      vitals.push({ ...vital, value: inLimits(vital.value) });
      noted();
    },
  });
}

function inLimits(value: number): number {
  return Math.min(600_000, Math.max(0, Math.round(value)));
}
