import { z } from "zod";

import { errorCodes } from "../errors/codes.ts";
import { pageQuery } from "./pages.ts";

/** Events in one call. A page with more events makes several calls. */
export const maxTelemetryEvents = 50;

/** Id of a release, or for the host the version of the portal. */
const ReleaseName = z
  .string()
  .max(80)
  .regex(/^[a-z0-9.+-]+$/i);
const RoutePattern = z
  .string()
  .max(200)
  .regex(/^\/([a-zA-Z0-9_:*/-]*)$/);
const TelemetryRemoteName = z
  .string()
  .max(40)
  .regex(/^[a-z0-9]+$/);

/**
 * Phases of an event. `load`: a remote's entry and texts. `page`: the code of a screen. Events of
 * the other phases are only failures, without a duration. `verify`: a release was refused before
 * its code ran. `run`: an error that nothing caught, such as of a handler, a timer or a promise.
 */
export const loadPhases = ["verify", "load", "page", "render", "run", "call"] as const;
/** Web vitals (web.dev). Their values are in milliseconds; those of `CLS` in thousandths. */
export const vitalMetrics = ["CLS", "FCP", "INP", "LCP", "TTFB"] as const;

const LoadEvent = z.strictObject({
  remote: TelemetryRemoteName,
  release: ReleaseName,
  phase: z.enum(loadPhases),
  duration_ms: z.int().min(0).max(600_000).optional(),
  /** Why it failed; absent on success. */
  code: z.enum(errorCodes).optional(),
});

const VitalEvent = z.strictObject({
  remote: TelemetryRemoteName,
  release: ReleaseName,
  route: RoutePattern,
  metric: z.enum(vitalMetrics),
  value: z.int().min(0).max(600_000),
});

/** Body of `POST /telemetry`. It identifies no person, address or secret. */
export const TelemetryBody = z.strictObject({
  events: z.array(LoadEvent).max(maxTelemetryEvents),
  vitals: z.array(VitalEvent).max(maxTelemetryEvents),
});
export type TelemetryBody = z.infer<typeof TelemetryBody>;

/** Upper bounds of the classes of durations. The last class has no bound. */
export const telemetryBucketBounds = [100, 250, 500, 1_000, 2_500, 5_000, 10_000] as const;

/** Remote, release, phase, route and code of the last sum of a page; opaque to clients. */
const SumCursor = z.string().regex(/^([A-Za-z0-9_.:*/+-]{0,200},){4}[A-Za-z0-9_-]{0,64}$/);

/** Query of `GET /telemetry`. */
export const TelemetryQuery = pageQuery(SumCursor);
export type TelemetryQuery = z.output<typeof TelemetryQuery>;

/** Response of `GET /telemetry` for the operator: sums of recent days, in order of their labels. */
export const TelemetrySums = z.strictObject({
  days: z.int().positive(),
  sums: z.array(
    z.strictObject({
      remote: z.string(),
      release: z.string(),
      /**
       * One of `loadPhases` or `vitalMetrics`; or `csp`, where `code` is the violated directive.
       */
      phase: z.string(),
      route: z.string(),
      code: z.string(),
      count: z.int().min(0),
      /**
       * Counts by class of `telemetryBucketBounds`. Their sum is less than `count` if some events
       * had no duration.
       */
      classes: z.array(z.int().min(0)).length(telemetryBucketBounds.length + 1),
    }),
  ),
  next_cursor: SumCursor.nullable(),
});
export type TelemetrySums = z.infer<typeof TelemetrySums>;
