/**
 * Runs one `work` with a key after the other, in the order in which they came, and those of
 * different keys beside each other.
 */
export type Turns = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Of this process. Rejects with what `work` rejects with; the next one goes on all the same. */
export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const turn = (last.get(key) ?? Promise.resolve()).then(work);
    const over = turn.catch(() => undefined); // who waits does not care how it went; who asked hears of it below
    last.set(key, over);
    try {
      return await turn;
    } finally {
      if (last.get(key) === over) last.delete(key);
    }
  };
}
