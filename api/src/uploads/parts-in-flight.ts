import type { IncomingMessage } from "node:http";

/**
 * A copy of a part that has brought nothing for so long while another one waits is given up: a
 * device that changed networks sends it again.
 */
const stalledMilliseconds = 10_000;

/**
 * One copy of a part at a time in this process. Its bytes have their place in the quota since the
 * upload started; copies beside each other would have none. A second one is not read until the
 * first is over, and then finds the part there.
 */
export interface PartsInFlight {
  alone<T>(part: string, call: Pick<IncomingMessage, "socket" | "destroy">, work: () => Promise<T>): Promise<T>;
}

export function createPartsInFlight(patience = stalledMilliseconds): PartsInFlight {
  const holders = new Map<string, { readonly giveUpIfStill: () => () => void; readonly over: Promise<void> }>();

  return {
    async alone(part, call, work) {
      for (let holder = holders.get(part); holder !== undefined; holder = holders.get(part)) {
        const giveUp = setInterval(holder.giveUpIfStill(), patience);
        await holder.over;
        clearInterval(giveUp);
      }
      let end = (): void => undefined;
      const over = new Promise<void>((ended) => {
        end = ended;
      });
      const giveUpIfStill = () => {
        let before = call.socket.bytesRead;
        return () => {
          if (call.socket.bytesRead === before) call.destroy();
          before = call.socket.bytesRead;
        };
      };
      holders.set(part, { giveUpIfStill, over });
      try {
        return await work();
      } finally {
        holders.delete(part);
        end();
      }
    },
  };
}
