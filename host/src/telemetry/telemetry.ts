import { maxTelemetryEvents, type TelemetryBody } from "@relicario/shared/api";
import type { RemoteName } from "@relicario/shared/contract";
import type { ErrorCode } from "@relicario/shared/errors";

type LoadPhase = TelemetryBody["events"][number]["phase"];
export type Vital = TelemetryBody["vitals"][number];

/** `unknown` until the account is known; `visitor` where nobody is signed in. */
export type TelemetryConsent = "yes" | "no" | "visitor" | "unknown";

export interface TelemetryDeps {
  /** Of the call `POST /telemetry`. */
  readonly endpoint: string;
  /** The release that a remote runs, or would; null when the deployment names none. */
  readonly findRelease: (remote: RemoteName) => string | null;
  readonly getConsent: () => TelemetryConsent;
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
  readonly recordLoad: (
    remote: RemoteName,
    phase: LoadPhase,
    outcome: { readonly milliseconds?: number; readonly code?: ErrorCode },
  ) => void;
  readonly recordVital: (vital: Vital) => void;
}

/** What is noted goes together, so many milliseconds later, or when the page is hidden. */
export const sendDelayMs = 10_000;

/**
 * What is noted waits until it is known whether the person switched this off. Once somebody did,
 * this page sends nothing more as a visitor either. A browser that says Global Privacy Control
 * sends nothing at all.
 */
export function createTelemetry({
  endpoint,
  findRelease,
  getConsent,
  window,
  privacyControl,
  fetch,
}: TelemetryDeps): PageTelemetry {
  let events: TelemetryBody["events"] = [];
  let vitals: TelemetryBody["vitals"] = [];
  let isScheduled = false;
  let isOptedOut = false;

  const resolveConsent = (): boolean | null => {
    if (privacyControl) return false;
    const consent = getConsent();
    if (consent === "yes" || consent === "no") isOptedOut = consent === "no";
    return consent === "unknown" ? null : !isOptedOut;
  };

  const send = (): void => {
    const allowed = resolveConsent();
    if (allowed === null) return;
    const body: TelemetryBody = { events, vitals };
    [events, vitals] = [[], []];
    if (!allowed || (body.events.length === 0 && body.vitals.length === 0)) return;
    fetch(endpoint, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
      keepalive: true, // the last one of a page is sent while it goes away
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
    }).catch(() => undefined); // not worth another try
  };

  const scheduleSend = (): void => {
    if (resolveConsent() === false) [events, vitals] = [[], []];
    if (isScheduled || (events.length === 0 && vitals.length === 0)) return;
    isScheduled = true;
    window.setTimeout(() => {
      isScheduled = false;
      send();
      scheduleSend(); // while nobody knows what the person wishes
    }, sendDelayMs);
  };

  // At the window, after the listeners of the document that note the last values of a page.
  window.addEventListener("visibilitychange", () => {
    if (window.document.visibilityState === "hidden") send();
  });

  return Object.freeze<PageTelemetry>({
    recordLoad: (remote, phase, { milliseconds, code }) => {
      const release = findRelease(remote);
      if (release === null || events.length >= maxTelemetryEvents) return;
      events.push({
        remote,
        release,
        phase,
        ...(milliseconds === undefined ? {} : { duration_ms: clampDuration(milliseconds) }),
        ...(code === undefined ? {} : { code }),
      });
      scheduleSend();
    },
    recordVital: (vital) => {
      if (vitals.length >= maxTelemetryEvents) return;
      vitals.push({ ...vital, value: clampDuration(vital.value) });
      scheduleSend();
    },
  });
}

function clampDuration(value: number): number {
  return Math.min(600_000, Math.max(0, Math.round(value)));
}
