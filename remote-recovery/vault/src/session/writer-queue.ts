export interface WriterLocks {
  readonly request: <T>(name: string, callback: () => Promise<T>) => Promise<T>;
}

/**
 * Runs an account's writers one after another, across tabs, so that a device never conflicts with
 * itself. Without Web Locks, which browsers refuse together with storage, two tabs conflict like
 * two devices, and one of them retries.
 */
export function createWriterQueue(
  account: string,
  givenLocks: WriterLocks | null = null,
): <T>(write: () => Promise<T>) => Promise<T> {
  const locks = givenLocks ?? getBrowserLocks();
  let queue: Promise<unknown> = Promise.resolve();
  return (write) => {
    const lockedWrite = () => (locks === null ? write() : locks.request(`relicario-vault writer ${account}`, write));
    const result = queue.then(lockedWrite, lockedWrite);
    // the caller gets the error; the next write runs in any case
    queue = result.catch(() => null);
    return result;
  };
}

function getBrowserLocks(): WriterLocks | null {
  if (!("navigator" in globalThis) || !("locks" in globalThis.navigator)) return null;
  const { locks } = globalThis.navigator;
  return {
    request: async (name, callback) => {
      const outcome = { isStarted: false };
      try {
        return await locks.request(name, () => {
          outcome.isStarted = true;
          return callback();
        });
      } catch (error) {
        if (outcome.isStarted) throw error;
        return callback();
      }
    },
  };
}
