import { PortalError } from "@relicario/shared/errors";

/**
 * Call after each `await` of a long operation.
 * @throws PortalError `cancelled`
 */
export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new PortalError("cancelled", { cause: signal.reason });
}
