import { Problem } from "./problem.ts";

/** The client's clock, by which the expiry is computed, may be ahead. */
const clockToleranceMilliseconds = 3_600_000;

/** @throws Problem `validation_error` for a time in the past, or more than `maxDays` away. */
export function parseExpiry(text: string, maxDays: number, now: Date): Date {
  const expiresAt = new Date(text);
  const latestExpiry = now.getTime() + maxDays * 86_400_000 + clockToleranceMilliseconds;
  if (expiresAt <= now || expiresAt.getTime() > latestExpiry)
    throw new Problem("validation_error", {
      members: { errors: [{ path: "/expires_at", reason: expiresAt <= now ? "too_early" : "too_late" }] },
    });
  return expiresAt;
}
