import { maxTelemetryEvents, type TelemetryBody } from "@relicario/shared/api";
import type { RemoteName } from "@relicario/shared/contract";
import type { ErrorCode } from "@relicario/shared/errors";

export type LoadPhase = TelemetryBody["events"][number]["phase"];
export type Vital = TelemetryBody["vitals"][number];

/** `unknown` until the account is known; `visitor` when no one is signed in. */
export type TelemetryConsent = "yes" | "no" | "visitor" | "unknown";

export interface TelemetryDeps {
  /** URL of `POST /telemetry`. */
  readonly endpoint: string;
  /** The release of a remote, even a refused one; null when the deployment names none. */
  readonly findRelease: (remote: RemoteName) => string | null;
  readonly getConsent: () => TelemetryConsent;
  readonly window: Pick<Window, "addEventListener" | "setTimeout"> & {
    readonly document: Pick<Document, "visibilityState">;
  };
  /** Whether the browser sends Global Privacy Control. */
  readonly privacyControl: boolean;
  readonly fetch: typeof globalThis.fetch;
}

/** Reports load times, failures and web vitals to the service, without naming the person. */
export interface PageTelemetry {
  /**
   * Records a load of a remote or a page with its duration in milliseconds, retries included. Also
   * records another failure, without a duration. `release` is by default the one in force.
   */
  readonly recordLoad: (
    remote: RemoteName,
    phase: LoadPhase,
    outcome: { readonly milliseconds?: number; readonly code?: ErrorCode; readonly release?: string },
  ) => void;
  readonly recordVital: (vital: Vital) => void;
}

/**
 * How long records are collected before they are sent together, in milliseconds. A page that
 * becomes hidden sends at once.
 */
export const sendDelayMs = 10_000;

/**
 * Creates the telemetry. Records wait until the person's consent is known. After a refusal this
 * page sends nothing, even once the person has signed out. A browser with Global Privacy Control
 * sends nothing.
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

  const isSendingAllowed = (): boolean | null => {
    if (privacyControl) return false;
    const consent = getConsent();
    if (consent === "yes" || consent === "no") isOptedOut = consent === "no";
    return consent === "unknown" ? null : !isOptedOut;
  };

  const send = (): void => {
    const isAllowed = isSendingAllowed();
    if (isAllowed === null) return;
    const body: TelemetryBody = { events, vitals };
    [events, vitals] = [[], []];
    if (!isAllowed || (body.events.length === 0 && body.vitals.length === 0)) return;
    fetch(endpoint, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
      keepalive: true, // lets the last request outlive the page
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
    }).catch(() => undefined); // lost records are not worth a retry
  };

  const scheduleSend = (): void => {
    if (isSendingAllowed() === false) [events, vitals] = [[], []];
    if (isScheduled || (events.length === 0 && vitals.length === 0)) return;
    isScheduled = true;
    window.setTimeout(() => {
      isScheduled = false;
      send();
      scheduleSend(); // while the consent is unknown
    }, sendDelayMs);
  };

  // Listens on the window, so that it runs after the document's listeners, which record a page's
  // last values.
  window.addEventListener("visibilitychange", () => {
    if (window.document.visibilityState === "hidden") send();
  });

  return Object.freeze<PageTelemetry>({
    recordLoad: (remote, phase, { milliseconds, code, release = findRelease(remote) }) => {
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
