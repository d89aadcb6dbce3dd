import { toPortalError } from "@relicario/shared/errors";

export interface StartedOnce<T> {
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
export function startedOnce<T>(start: (onEnd: () => void) => Promise<T>): StartedOnce<T> {
  let running: Promise<T> | null = null;
  return {
    ensure: () => {
      if (running !== null) return running;
      const forget = (): void => {
        if (running === starting) running = null;
      };
      const starting: Promise<T> = start(forget).catch((error: unknown) => {
        forget();
        throw toPortalError(error);
      });
      running = starting;
      return starting;
    },
    release: async () => {
      const before = running;
      running = null;
      return (await before?.catch(() => null)) ?? null;
    },
  };
}
