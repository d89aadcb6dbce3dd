import { isPortalError } from "./PortalError.ts";

/**
 * Whether the same call may succeed a little later: the outside gave no answer (`offline`,
 * `service_unavailable`, `timed_out`), or one that says that it is in trouble for a moment
 * (`internal_error`, `too_many_requests`). An answer that refuses the call will refuse it again.
 *
 * It says nothing about whether the first call took effect: repeat only calls that may be made
 * twice.
 */
export function isTransient(error: unknown): boolean {
  return isPortalError(error, "offline", "service_unavailable", "timed_out", "internal_error", "too_many_requests");
}
