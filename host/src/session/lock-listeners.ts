import type { LockReason } from "@relicario/shared/contract";

/** How long locking and signing out wait for the listeners, in milliseconds. */
export const lockLimitMs = 5000;

export interface LockListeners {
  readonly add: (listener: (reason: LockReason) => void | Promise<void>) => () => void;
  /**
   * Calls all listeners and waits for them, up to the limit. A failing listener does not stop the
   * others.
   */
  readonly run: (reason: LockReason) => Promise<void>;
}

export function createLockListeners(): LockListeners {
  const listeners = new Set<(reason: LockReason) => void | Promise<void>>();
  return Object.freeze<LockListeners>({
    add: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    run: async (reason) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const limit = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, lockLimitMs);
      });
      const all = Promise.allSettled([...listeners].map(async (listener) => listener(reason)));
      await Promise.race([all, limit]);
      clearTimeout(timer);
    },
  });
}
