import { createChannel, type Channel } from "@relicario/shared/contract";

/** Two connected channels; every message is structured-cloned, as between windows. */
export function createChannelPair(): readonly [Channel, Channel] {
  const listeners: [Set<(message: unknown) => void>, Set<(message: unknown) => void>] = [new Set(), new Set()];
  const createEndpoint = (own: 0 | 1, other: 0 | 1): Channel =>
    createChannel({
      post: (message) => {
        const clone: unknown = structuredClone(message);
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
