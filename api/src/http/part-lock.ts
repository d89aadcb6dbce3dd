import type { IncomingMessage } from "node:http";

/**
 * A copy of a part that has brought nothing for so long while another one waits is given up: a
 * device that changed networks sends it again.
 */
const defaultStallTimeoutMilliseconds = 10_000;

/**
 * One copy of a part at a time in this process. Its bytes have their place in the quota since the
 * upload started; copies beside each other would have none. A second one is not read until the
 * first is over, and then finds the part there.
 */
export interface PartLock {
  runExclusively<T>(
    partKey: string,
    connection: Pick<IncomingMessage, "socket" | "destroy">,
    task: () => Promise<T>,
  ): Promise<T>;
}

export function createPartLock(stallTimeoutMilliseconds = defaultStallTimeoutMilliseconds): PartLock {
  const holders = new Map<string, { readonly watchForStall: () => () => void; readonly finished: Promise<void> }>();

  return {
    async runExclusively(part, connection, task) {
      for (let holder = holders.get(part); holder !== undefined; holder = holders.get(part)) {
        const stallTimer = setInterval(holder.watchForStall(), stallTimeoutMilliseconds);
        await holder.finished;
        clearInterval(stallTimer);
      }
      let release = (): void => undefined;
      const finished = new Promise<void>((resolve) => {
        release = resolve;
      });
      const createStallCheck = () => {
        let bytesBefore = connection.socket.bytesRead;
        return () => {
          if (connection.socket.bytesRead === bytesBefore) connection.destroy();
          bytesBefore = connection.socket.bytesRead;
        };
      };
      holders.set(part, { watchForStall: createStallCheck, finished });
      try {
        return await task();
      } finally {
        holders.delete(part);
        release();
      }
    },
  };
}
