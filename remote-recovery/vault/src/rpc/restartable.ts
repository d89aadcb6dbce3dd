import { toPortalError } from "@relicario/shared/errors";

export interface Restartable<T> {
  /**
   * What runs, or is being started; a new one after a failed start or an end. Rejects as the start
   * does, with a `PortalError`.
   */
  readonly ensure: () => Promise<T>;
  /**
   * Gives up what runs, or is being started, to whoever ends it: the next call starts a new one.
   * Null when there is none, or when it does not start.
   */
  readonly release: () => Promise<T | null>;
}

/** @param start calls `onEnd` when what it started has ended by itself */
export function createRestartable<T>(start: (onEnd: () => void) => Promise<T>): Restartable<T> {
  let running: Promise<T> | null = null;
  return {
    ensure: () => {
      if (running !== null) return running;
      const clear = (): void => {
        if (running === current) running = null;
      };
      const current: Promise<T> = start(clear).catch((error: unknown) => {
        clear();
        throw toPortalError(error);
      });
      running = current;
      return current;
    },
    release: async () => {
      const previous = running;
      running = null;
      return (await previous?.catch(() => null)) ?? null;
    },
  };
}
