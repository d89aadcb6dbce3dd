import { isPortalError, type PortalError } from "@relicario/shared/errors";

/** Whether an error concerns a single item, so that the other items can still be stored. */
export function isItemError(error: unknown): error is PortalError {
  return isPortalError(
    error,
    "payload_too_large",
    "validation_error",
    "version_conflict",
    "too_many_versions",
    "not_found",
    "opener_needed",
  );
}
