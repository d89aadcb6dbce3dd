import { isPortalError, type PortalError } from "@relicario/shared/errors";

/** Whether it is about one item alone: the others can still be stored. */
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
