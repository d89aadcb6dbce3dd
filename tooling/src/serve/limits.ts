import type { z } from "zod";

import { ConnectionLimits, positiveLimit } from "../http/limits.ts";

/** Limits of the gateway; the times also hold for static servers. */
export const ServeLimits = ConnectionLimits.extend({
  /**
   * Bytes per second of large bodies and responses per IP address, while others are active. Two
   * cores that run database, gateway and two services move some 200 MB per second at full load.
   */
  bytesPerSecondOfAddress: positiveLimit(32 * 1024 ** 2),
  /** As in the service: 64 MiB at 300 kbit/s. */
  streamedBodyMs: positiveLimit(30 * 60_000),
});
export type ServeLimits = Readonly<z.infer<typeof ServeLimits>>;

export const defaultLimits: ServeLimits = ServeLimits.parse({});

/** Largest file of a release, in bytes. */
export const maxReleaseFileBytes = 32 * 1024 ** 2;

/** For a response to start or to continue. */
export const serviceTimeoutMs = 65_000;
