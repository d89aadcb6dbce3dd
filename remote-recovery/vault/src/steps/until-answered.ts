import { isPortalError, PortalError } from "@relicario/shared/errors";

/** How a pause is made; the tests' ones take no time. */
export type Pause = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

/** Tries of one call after the first, while no answer comes. */
const resends = 2;
const pauseMilliseconds = 800;

/**
 * Sends a call, and up to two times again while its answer is lost. Only for calls that the service
 * answers the second time as the first: with a keyring change, or with the id of a claim.
 */
export async function sendUntilAnswered<T>(pause: Pause, send: () => Promise<T>): Promise<T> {
  for (let done = 0; ; done++) {
    try {
      return await send();
    } catch (error) {
      if (!isAnswerLost(error) || done >= resends) throw error;
      await pause(pauseMilliseconds * 2 ** done);
    }
  }
}

/**
 * Whether the service may have done it all the same. Not what is transient: too many calls are
 * refused, and then nothing was done.
 */
export function isAnswerLost(error: unknown): boolean {
  return isPortalError(error, "service_unavailable", "timed_out", "internal_error", "bad_answer", "offline");
}

export const pauseFor: Pause = (milliseconds, signal) =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new PortalError("cancelled", { cause: signal?.reason }));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
