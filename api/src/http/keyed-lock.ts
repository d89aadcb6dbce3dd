/**
 * Runs tasks with the same key one after another, in order of their calls; those of different keys
 * run concurrently.
 */
export type KeyedLock = <T>(key: string, task: () => Promise<T>) => Promise<T>;

/** For this process. Rejects as `task` does; later tasks still run. */
export function createKeyedLock(): KeyedLock {
  const tails = new Map<string, Promise<unknown>>();
  return async (key, task) => {
    const result = (tails.get(key) ?? Promise.resolve()).then(task);
    // the next task runs after a failure too; the caller gets the rejection below
    const settledTask = result.catch(() => undefined);
    tails.set(key, settledTask);
    try {
      return await result;
    } finally {
      if (tails.get(key) === settledTask) tails.delete(key);
    }
  };
}
