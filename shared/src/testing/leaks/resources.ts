import { placeOfCall, replace, type Account } from "./held.ts";

/**
 * jsdom starts no workers, and its page has no channels: these take their place, and answer
 * nothing.
 */
class StandIn extends EventTarget {
  onmessage = null;
  onmessageerror = null;
  onerror = null;
  postMessage(): void {}
  terminate(): void {}
  close(): void {}
}

const ends = { Worker: "terminate", BroadcastChannel: "close" } as const;

/**
 * Workers that were not terminated, channels that were not closed, addresses of blobs that were not
 * revoked. A worker that ends itself is not seen from here.
 */
export function watchResources(): Account {
  const open = new Map<object | string, { readonly what: string; readonly place: () => string }>();
  const restore = Object.entries(ends).flatMap(([name, end]) => {
    const known: unknown = Reflect.get(globalThis, name);
    const Resource = typeof known === "function" ? known : class extends StandIn {};
    const prototype = Resource.prototype as Partial<Record<string, (this: object) => unknown>>;
    const ending = prototype[end];
    const counted = new Proxy(Resource, {
      construct: (target, given: unknown[], newTarget) => {
        const made = Reflect.construct(target, given, newTarget) as object;
        open.set(made, { what: name, place: placeOfCall() });
        return made;
      },
    });
    return [
      replace(globalThis, name, counted),
      replace(prototype, end, function (this: object) {
        open.delete(this);
        ending?.call(this);
      }),
    ];
  });

  const { createObjectURL, revokeObjectURL } = URL as Partial<Pick<typeof URL, "createObjectURL" | "revokeObjectURL">>;
  let made = 0;
  restore.push(
    replace(URL, "createObjectURL", (blob: Blob | MediaSource) => {
      const address =
        createObjectURL === undefined ? `blob:${location.origin}/${String(++made)}` : createObjectURL(blob);
      open.set(address, { what: "object URL", place: placeOfCall() });
      return address;
    }),
    replace(URL, "revokeObjectURL", (address: string) => {
      open.delete(address);
      revokeObjectURL?.(address);
    }),
  );

  return {
    held: () => [...open.values()].map(({ what, place }) => ({ what, which: place })),
    stop: () => {
      for (const undo of restore.reverse()) undo();
    },
  };
}
