import { PortalError } from "@relicario/shared/errors";

/**
 * For whatever runs between two waits: gives up where the caller did. @throws PortalError
 * `cancelled`.
 */
export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new PortalError("cancelled", { cause: signal.reason });
}
