import { PortalError } from "@relicario/shared/errors";

/** Tells a full disk as `storage_full`, whichever store of the browser found it. */
export async function mapQuotaError<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    throw getErrorName(cause) === "QuotaExceededError" ? new PortalError("storage_full", { cause }) : cause;
  }
}

/** Of an error of the browser: a DOMException, of whatever realm. */
export function getErrorName(cause: unknown): unknown {
  return typeof cause === "object" && cause !== null && "name" in cause ? cause.name : null;
}
