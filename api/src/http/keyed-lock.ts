/**
 * Runs one `task` with a key after the other, in the order in which they came, and those of
 * different keys beside each other.
 */
export type KeyedLock = <T>(key: string, task: () => Promise<T>) => Promise<T>;

/** Of this process. Rejects with what `task` rejects with; the next one goes on all the same. */
export function createKeyedLock(): KeyedLock {
  const tails = new Map<string, Promise<unknown>>();
  return async (key, task) => {
    const result = (tails.get(key) ?? Promise.resolve()).then(task);
    // who waits does not care how it went; who asked hears of it below
    const settledTask = result.catch(() => undefined);
    tails.set(key, settledTask);
    try {
      return await result;
    } finally {
      if (tails.get(key) === settledTask) tails.delete(key);
    }
  };
}
