import { PortalError } from "@relicario/shared/errors";

/** Maps the error of a full disk to `storage_full`, for any storage of the browser. */
export async function mapQuotaError<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    throw getErrorName(cause) === "QuotaExceededError" ? new PortalError("storage_full", { cause }) : cause;
  }
}

/** Name of a DOMException, even from another realm; null for other values. */
export function getErrorName(cause: unknown): unknown {
  return typeof cause === "object" && cause !== null && "name" in cause ? cause.name : null;
}
