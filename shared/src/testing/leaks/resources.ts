import { captureCallSite, replaceMember, type ResourceTracker } from "./resource-tracker.ts";

/**
 * jsdom starts no workers, and its page has no channels: these take their place, and answer
 * nothing.
 */
class StubResource extends EventTarget {
  onmessage = null;
  onmessageerror = null;
  onerror = null;
  postMessage(): void {}
  terminate(): void {}
  close(): void {}
}

const closeMethods = { Worker: "terminate", BroadcastChannel: "close" } as const;

/**
 * Workers that were not terminated, channels that were not closed, addresses of blobs that were not
 * revoked. A worker that ends itself is not seen from here.
 */
export function watchResources(): ResourceTracker {
  const openResources = new Map<object | string, { readonly resourceKind: string; readonly callSite: () => string }>();
  const restorers = Object.entries(closeMethods).flatMap(([name, closeMethod]) => {
    const native: unknown = Reflect.get(globalThis, name);
    const Resource = typeof native === "function" ? native : class extends StubResource {};
    const prototype = Resource.prototype as Partial<Record<string, (this: object) => unknown>>;
    const close = prototype[closeMethod];
    const trackingProxy = new Proxy(Resource, {
      construct: (target, parameters: unknown[], newTarget) => {
        const instance = Reflect.construct(target, parameters, newTarget) as object;
        openResources.set(instance, { resourceKind: name, callSite: captureCallSite() });
        return instance;
      },
    });
    return [
      replaceMember(globalThis, name, trackingProxy),
      replaceMember(prototype, closeMethod, function (this: object) {
        openResources.delete(this);
        close?.call(this);
      }),
    ];
  });

  const { createObjectURL, revokeObjectURL } = URL as Partial<Pick<typeof URL, "createObjectURL" | "revokeObjectURL">>;
  let urlCount = 0;
  restorers.push(
    replaceMember(URL, "createObjectURL", (blob: Blob | MediaSource) => {
      const url =
        createObjectURL === undefined ? `blob:${location.origin}/${String(++urlCount)}` : createObjectURL(blob);
      openResources.set(url, { resourceKind: "object URL", callSite: captureCallSite() });
      return url;
    }),
    replaceMember(URL, "revokeObjectURL", (url: string) => {
      openResources.delete(url);
      revokeObjectURL?.(url);
    }),
  );

  return {
    listHeld: () =>
      [...openResources.values()].map(({ resourceKind, callSite }) => ({ resourceKind, locate: callSite })),
    stop: () => {
      for (const restoreMember of restorers.reverse()) restoreMember();
    },
  };
}
