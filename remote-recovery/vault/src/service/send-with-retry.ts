import { isPortalError, PortalError } from "@relicario/shared/errors";

/** How a pause is made; the tests' ones take no time. */
export type Pause = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

/** Tries of one call after the first, while no answer comes. */
const maxResends = 2;
const initialPauseMilliseconds = 800;

/**
 * Sends a call, and up to two times again while its answer is lost. Only for calls that the service
 * answers the second time as the first: with a keyring change, or with the id of a claim.
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
 * Whether the service may have done it all the same. Not what is transient: too many calls are
 * refused, and then nothing was done.
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
