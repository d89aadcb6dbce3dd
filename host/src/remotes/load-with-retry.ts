import { PortalError } from "@relicario/shared/errors";
import pRetry from "p-retry";

/**
 * Limits of loading a remote's code. `attemptMs` is the time limit of an attempt. There are two
 * retries, after 400 ms and 1200 ms.
 */
export const loadLimits = { attemptMs: 10_000, retries: 2, firstDelayMs: 400, delayFactor: 3 } as const;

/**
 * Runs `load` until it succeeds or no retry is left.
 *
 * @param toError converts a failure to the error that `shouldRetry` and the caller get
 */
export function loadWithRetry<T>(
  load: () => Promise<T>,
  toError: (failure: unknown) => Promise<PortalError>,
  shouldRetry: (error: Error) => boolean,
): Promise<T> {
  // p-retry does not retry after a TypeError, except one of fetch. A script that fails while it
  // runs may throw one too.
  const attempt = async () => {
    try {
      return await withAttemptTimeout(load());
    } catch (failure) {
      throw await toError(failure);
    }
  };
  return pRetry(attempt, {
    retries: loadLimits.retries,
    minTimeout: loadLimits.firstDelayMs,
    factor: loadLimits.delayFactor,
    shouldRetry: ({ error }) => shouldRetry(error),
  });
}

/**
 * Rejects with `remote_timed_out` after the time limit of an attempt. Does not cancel the
 * operation.
 */
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
