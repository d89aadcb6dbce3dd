import { PortalError } from "@relicario/shared/errors";
import pRetry from "p-retry";

/**
 * How the code of a remote is loaded: time limit of one attempt, then two more attempts, after 400
 * ms and 1200 ms.
 */
export const loadLimits = { attemptMs: 10_000, retries: 2, firstDelayMs: 400, delayFactor: 3 } as const;

/**
 * Runs `load` until it succeeds or no attempt is left.
 *
 * @param toError turns a failure into the error that `shouldRetry` and the caller get
 */
export function loadWithRetry<T>(
  load: () => Promise<T>,
  toError: (failure: unknown) => PortalError,
  shouldRetry: (error: Error) => boolean,
): Promise<T> {
  // p-retry does not repeat a TypeError (except those of fetch), but a script that fails while it
  // runs may throw one.
  const attempt = async () => {
    try {
      return await withAttemptTimeout(load());
    } catch (failure) {
      throw toError(failure);
    }
  };
  return pRetry(attempt, {
    retries: loadLimits.retries,
    minTimeout: loadLimits.firstDelayMs,
    factor: loadLimits.delayFactor,
    shouldRetry: ({ error }) => shouldRetry(error),
  });
}

/** Rejects with `remote_timed_out` when the work takes too long. The work itself goes on. */
export async function withAttemptTimeout<T>(promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new PortalError("remote_timed_out"));
    }, loadLimits.attemptMs);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
