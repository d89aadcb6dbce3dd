import { isPortalError, isTransient, PortalError } from "@relicario/shared/errors";

/** How pauses are made; tests replace it. */
export interface RetryPolicy {
  /**
   * Resolves after so long, or sooner when the device is online again. Rejects with `cancelled`.
   */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

const initialDelay = 500;
const maxDelay = 20_000;

/**
 * Makes a call until it is through: after a lost connection, a service that starts anew, or too
 * many calls. Only for calls that may be made twice. A loop of its own: it has no last try, pauses
 * for as long as the service asks, and goes on at once when the device is online again.
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
 * Whether the outside may answer otherwise a little later. A part that was damaged on its way
 * (`digest_mismatch`) is sent anew.
 */
export function isRetryable(error: unknown): boolean {
  return isTransient(error) || isPortalError(error, "digest_mismatch");
}

/** Growing, never the same in two tabs, and not shorter than the service asks for. */
function retryDelay(failures: number, error: unknown): number {
  const requestedDelay = isPortalError(error) ? Number(error.details["retry_after"]) * 1000 : 0;
  const backoff = Math.min(maxDelay, initialDelay * 2 ** Math.min(failures, 10)) * (0.5 + Math.random());
  return Math.max(backoff, Number.isFinite(requestedDelay) ? requestedDelay : 0);
}

/** In a worker of a browser. */
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
