import { toPortalError } from "@relicario/shared/errors";

export interface Restartable<T> {
  /** Returns the running or starting instance, or starts one. Rejects with a `PortalError`. */
  readonly ensure: () => Promise<T>;
  /**
   * Returns the running or starting instance, which the caller must end. The next call starts a new
   * one. Null if there is none, or if its start fails.
   */
  readonly release: () => Promise<T | null>;
}

/** @param start calls `onEnd` when the started instance has failed or ended */
export function createRestartable<T>(start: (onEnd: () => void) => Promise<T>): Restartable<T> {
  let runningPromise: Promise<T> | null = null;
  return {
    ensure: () => {
      if (runningPromise !== null) return runningPromise;
      const clear = (): void => {
        if (runningPromise === startPromise) runningPromise = null;
      };
      const startPromise: Promise<T> = start(clear).catch((error: unknown) => {
        clear();
        throw toPortalError(error);
      });
      runningPromise = startPromise;
      return startPromise;
    },
    release: async () => {
      const previous = runningPromise;
      runningPromise = null;
      return (await previous?.catch(() => null)) ?? null;
    },
  };
}
