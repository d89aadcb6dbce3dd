import { isPortalError, isTransient, PortalError } from "@relicario/shared/errors";

/** How pauses are made; tests replace it. */
export interface Patience {
  /**
   * Resolves after so long, or sooner when the device is online again. Rejects with `cancelled`.
   */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

const firstPause = 500;
const longestPause = 20_000;

/**
 * Makes a call until it is through: after a lost connection, a service that starts anew, or too
 * many calls. Only for calls that may be made twice. A loop of its own: it has no last try, pauses
 * for as long as the service asks, and goes on at once when the device is online again.
 */
export async function untilThrough<T>(call: () => Promise<T>, patience: Patience, signal: AbortSignal): Promise<T> {
  for (let failed = 0; ; failed++) {
    if (signal.aborted) throw new PortalError("cancelled", { cause: signal.reason });
    try {
      return await call();
    } catch (error) {
      if (!mayPass(error)) throw error;
      await patience.wait(pauseAfter(failed, error), signal);
    }
  }
}

/**
 * Whether the outside may answer otherwise a little later. A part that was damaged on its way
 * (`digest_mismatch`) is sent anew.
 */
export function mayPass(error: unknown): boolean {
  return isTransient(error) || isPortalError(error, "digest_mismatch");
}

/** Growing, never the same in two tabs, and not shorter than the service asks for. */
function pauseAfter(failed: number, error: unknown): number {
  const asked = isPortalError(error) ? Number(error.details["retry_after"]) * 1000 : 0;
  const grown = Math.min(longestPause, firstPause * 2 ** Math.min(failed, 10)) * (0.5 + Math.random());
  return Math.max(grown, Number.isFinite(asked) ? asked : 0);
}

/** In a worker of a browser. */
export const browserPatience: Patience = {
  wait: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        globalThis.removeEventListener("online", go);
        signal.removeEventListener("abort", stop);
      };
      const go = (): void => {
        end();
        resolve();
      };
      const stop = (): void => {
        end();
        reject(new PortalError("cancelled", { cause: signal.reason }));
      };
      if (signal.aborted) {
        reject(new PortalError("cancelled", { cause: signal.reason }));
        return;
      }
      const timer = setTimeout(go, milliseconds);
      globalThis.addEventListener("online", go);
      signal.addEventListener("abort", stop);
    }),
};
