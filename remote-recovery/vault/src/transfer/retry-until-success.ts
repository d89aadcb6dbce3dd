import { isPortalError, isTransient, PortalError } from "@relicario/shared/errors";

/** How to pause between attempts; tests replace it. */
export interface RetryPolicy {
  /** Resolves after the time, or once the device is online again. Rejects with `cancelled`. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

const initialDelayMilliseconds = 500;
const maxDelayMilliseconds = 20_000;

/**
 * Repeats an idempotent call after a lost connection, a restart of the service or a rate limit. Not
 * a library's loop, because it never gives up, pauses for as long as the service requires, and
 * continues immediately once the device is online again.
 */
export async function retryUntilSuccess<T>(
  call: () => Promise<T>,
  retryPolicy: RetryPolicy,
  signal: AbortSignal,
): Promise<T> {
  for (let failures = 0; ; failures++) {
    if (signal.aborted) throw new PortalError("cancelled", { cause: signal.reason });
    try {
      return await call();
    } catch (error) {
      if (!isRetryable(error)) throw error;
      await retryPolicy.wait(retryDelay(failures, error), signal);
    }
  }
}

/**
 * Whether the same call may succeed later. A part damaged in transit (`digest_mismatch`) is sent
 * again.
 */
export function isRetryable(error: unknown): boolean {
  return isTransient(error) || isPortalError(error, "digest_mismatch");
}

/** Exponential with jitter, and no shorter than the service requires. */
function retryDelay(failures: number, error: unknown): number {
  const requestedDelayMilliseconds = isPortalError(error) ? Number(error.details["retry_after"]) * 1000 : 0;
  const backoffMilliseconds =
    Math.min(maxDelayMilliseconds, initialDelayMilliseconds * 2 ** Math.min(failures, 10)) * (0.5 + Math.random());
  return Math.max(backoffMilliseconds, Number.isFinite(requestedDelayMilliseconds) ? requestedDelayMilliseconds : 0);
}

export const browserRetryPolicy: RetryPolicy = {
  wait: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      const cleanUp = (): void => {
        clearTimeout(timer);
        globalThis.removeEventListener("online", handleOnline);
        signal.removeEventListener("abort", handleAbort);
      };
      const handleOnline = (): void => {
        cleanUp();
        resolve();
      };
      const handleAbort = (): void => {
        cleanUp();
        reject(new PortalError("cancelled", { cause: signal.reason }));
      };
      if (signal.aborted) {
        reject(new PortalError("cancelled", { cause: signal.reason }));
        return;
      }
      const timer = setTimeout(handleOnline, milliseconds);
      globalThis.addEventListener("online", handleOnline);
      signal.addEventListener("abort", handleAbort);
    }),
};
