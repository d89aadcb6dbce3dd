import { PortalError } from "@relicario/shared/errors";

/** Tells a full disk as `storage_full`, whichever store of the browser found it. */
export async function sayFull<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    const full = typeof cause === "object" && cause !== null && "name" in cause && cause.name === "QuotaExceededError";
    throw full ? new PortalError("storage_full", { cause }) : cause;
  }
}
