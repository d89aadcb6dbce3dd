/** An exclusive lock by name, held while `callback` runs. */
export interface WriterLocks {
  readonly request: <T>(name: string, callback: () => Promise<T>) => Promise<T>;
}

/**
 * Runs writers one after another, those of this account in other tabs too, so that a device never
 * conflicts with itself. Without Web Locks two tabs conflict like two devices do, and the one that
 * loses tries again.
 */
export function createWriterQueue(
  account: string,
  givenLocks: WriterLocks | null = null,
): <T>(write: () => Promise<T>) => Promise<T> {
  const locks = givenLocks ?? browserLocks();
  let queue: Promise<unknown> = Promise.resolve();
  return (write) => {
    const lockedWrite = () => (locks === null ? write() : locks.request(`relicario-vault writer ${account}`, write));
    const result = queue.then(lockedWrite, lockedWrite);
    // the error goes to the caller of this write; the next write runs in any case
    queue = result.catch(() => null);
    return result;
  };
}

function browserLocks(): WriterLocks | null {
  if (!("navigator" in globalThis) || !("locks" in globalThis.navigator)) return null;
  const { locks } = globalThis.navigator;
  return { request: (name, callback) => locks.request(name, callback) };
}
