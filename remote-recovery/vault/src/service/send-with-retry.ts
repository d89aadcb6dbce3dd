import { isPortalError, PortalError } from "@relicario/shared/errors";

export type Pause = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

/** Number of attempts after the first one. */
const maxResends = 2;
const initialPauseMilliseconds = 800;

/**
 * Sends an idempotent call, and repeats it up to two times if its response is lost. Calls with a
 * keyring change or a claim id are idempotent.
 */
export async function sendWithRetry<T>(pause: Pause, send: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await send();
    } catch (error) {
      if (!isResponseLost(error) || failures >= maxResends) throw error;
      await pause(initialPauseMilliseconds * 2 ** failures);
    }
  }
}

/**
 * Whether the service may have processed the call. Unlike `isTransient`, returns false for a rate
 * limit, because nothing was processed.
 */
export function isResponseLost(error: unknown): boolean {
  return isPortalError(error, "service_unavailable", "timed_out", "internal_error", "bad_answer", "offline");
}

export const pauseFor: Pause = (milliseconds, signal) =>
  new Promise((resolve, reject) => {
    const handleAbort = (): void => {
      clearTimeout(timer);
      reject(new PortalError("cancelled", { cause: signal?.reason }));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", handleAbort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", handleAbort, { once: true });
  });
