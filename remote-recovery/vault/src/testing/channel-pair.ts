import { createChannel, type Channel } from "@relicario/shared/contract";

/**
 * Two connected channels; every message is structured-cloned, as between windows. Calls `record`
 * with each message to the first.
 */
export function createChannelPair(record: (message: unknown) => void = () => undefined): readonly [Channel, Channel] {
  const listeners: [Set<(message: unknown) => void>, Set<(message: unknown) => void>] = [new Set(), new Set()];
  const createEndpoint = (own: 0 | 1, other: 0 | 1): Channel =>
    createChannel({
      post: (message) => {
        const clone: unknown = structuredClone(message);
        if (other === 0) record(clone);
        queueMicrotask(() => {
          for (const listener of listeners[other]) listener(clone);
        });
      },
      listen: (listener) => {
        listeners[own].add(listener);
        return () => listeners[own].delete(listener);
      },
    });
  return [createEndpoint(0, 1), createEndpoint(1, 0)];
}
