import { z } from "zod";

import { errorCodes } from "../errors/codes.ts";

/** Of one call; a page that has more sends another. */
export const maxTelemetryEvents = 50;

/**
 * A release, or the version of the portal for the host; and a path pattern, never with an id in it.
 */
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
 * `load`: a remote's entry and texts; `page`: the code of one of its screens; the others are
 * failures alone, and have no duration.
 */
export const loadPhases = ["load", "page", "render", "call"] as const;
/** Web vitals (web.dev), in milliseconds; `CLS` in thousandths. */
export const vitalMetrics = ["CLS", "FCP", "INP", "LCP", "TTFB"] as const;

const LoadEvent = z.strictObject({
  remote: TelemetryRemoteName,
  release: ReleaseName,
  phase: z.enum(loadPhases),
  duration_ms: z.int().min(0).max(600_000).optional(),
  /** Why it failed; none when it did not. */
  code: z.enum(errorCodes).optional(),
});

const VitalEvent = z.strictObject({
  remote: TelemetryRemoteName,
  release: ReleaseName,
  route: RoutePattern,
  metric: z.enum(vitalMetrics),
  value: z.int().min(0).max(600_000),
});

/** Body of `POST /telemetry`: nothing of a person, an address or a secret. */
export const TelemetryBody = z.strictObject({
  events: z.array(LoadEvent).max(maxTelemetryEvents),
  vitals: z.array(VitalEvent).max(maxTelemetryEvents),
});
export type TelemetryBody = z.infer<typeof TelemetryBody>;

/** Upper ends of the classes that values are counted in; the last class has none. */
export const telemetryBucketBounds = [100, 250, 500, 1_000, 2_500, 5_000, 10_000] as const;

/** What `GET /telemetry` gives the operator: sums of the last days, by where and what. */
export const TelemetrySums = z.strictObject({
  days: z.int().positive(),
  sums: z.array(
    z.strictObject({
      remote: z.string(),
      release: z.string(),
      /**
       * One of `loadPhases` or `vitalMetrics`, or `csp`: then `code` is the directive that was
       * violated.
       */
      phase: z.string(),
      route: z.string(),
      code: z.string(),
      count: z.int().min(0),
      /** By class of `telemetryBucketBounds`; fewer than `count` where some had no duration. */
      classes: z.array(z.int().min(0)).length(telemetryBucketBounds.length + 1),
    }),
  ),
});
export type TelemetrySums = z.infer<typeof TelemetrySums>;
