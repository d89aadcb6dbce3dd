import { Problem } from "./problem.ts";

/** A device's clock may be ahead of ours, and it counts the days. */
const clockToleranceMs = 3_600_000;

/** @throws Problem `validation_error` for a time that is over, or more than `days` away. */
export function parseExpiry(text: string, days: number, now: Date): Date {
  const expiresAt = new Date(text);
  const latest = now.getTime() + days * 86_400_000 + clockToleranceMs;
  if (expiresAt <= now || expiresAt.getTime() > latest)
    throw new Problem("validation_error", {
      members: { errors: [{ path: "/expires_at", reason: expiresAt <= now ? "too_early" : "too_late" }] },
    });
  return expiresAt;
}
