import type { IncomingMessage } from "node:http";

/**
 * A copy of a part that received no bytes for this long, while another copy waits, is aborted: a
 * device that changed networks sends the part again.
 */
const defaultStallTimeoutMilliseconds = 10_000;

/**
 * Receives one copy of a part at a time in this process: the quota was charged for one copy. A
 * second copy is not read until the first ends, and then finds the part stored.
 */
export interface PartLock {
  runExclusively<T>(
    partKey: string,
    connection: Pick<IncomingMessage, "socket" | "destroy">,
    task: () => Promise<T>,
  ): Promise<T>;
}

export function createPartLock(stallTimeoutMilliseconds = defaultStallTimeoutMilliseconds): PartLock {
  const holders = new Map<
    string,
    { readonly createStallCheck: () => () => void; readonly finishedPromise: Promise<void> }
  >();

  return {
    async runExclusively(partKey, connection, task) {
      for (let holder = holders.get(partKey); holder !== undefined; holder = holders.get(partKey)) {
        const stallTimer = setInterval(holder.createStallCheck(), stallTimeoutMilliseconds);
        await holder.finishedPromise;
        clearInterval(stallTimer);
      }
      let release = (): void => undefined;
      const finishedPromise = new Promise<void>((resolve) => {
        release = resolve;
      });
      const createStallCheck = () => {
        let bytesReadBefore = connection.socket.bytesRead;
        return () => {
          if (connection.socket.bytesRead === bytesReadBefore) connection.destroy();
          bytesReadBefore = connection.socket.bytesRead;
        };
      };
      holders.set(partKey, { createStallCheck, finishedPromise });
      try {
        return await task();
      } finally {
        holders.delete(partKey);
        release();
      }
    },
  };
}
