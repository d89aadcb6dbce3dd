import { isPortalError } from "./PortalError.ts";

/**
 * Whether the same call may succeed shortly: no response arrived or the service is down (`offline`,
 * `service_unavailable`, `timed_out`), or the response reports a temporary problem
 * (`internal_error`, `too_many_requests`). After any other response a repeated call would fail in
 * the same way.
 *
 * Does not say whether the first call took effect: repeat only idempotent calls.
 */
export function isTransient(error: unknown): boolean {
  return isPortalError(error, "offline", "service_unavailable", "timed_out", "internal_error", "too_many_requests");
}
