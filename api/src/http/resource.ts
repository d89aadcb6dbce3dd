import type { Resource } from "../resource/resource.ts";
import type { RateLimiter } from "./rate-limits.ts";

export const rateLimits: Resource<{ readonly limiter: RateLimiter }> = {
  sweeps: { rate_limits: ({ limiter }, context) => limiter.deleteExpiredWindows(context) },
};
