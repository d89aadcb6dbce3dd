import { captureCallSite, replaceMember, type ResourceTracker } from "./resource-tracker.ts";

/** Replaces workers and channels, which jsdom lacks. It never responds. */
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
 * Tracks workers that were not terminated, channels that were not closed, and object URLs that were
 * not revoked. It cannot detect that a worker closes itself.
 */
export function watchResources(): ResourceTracker {
  const openResources = new Map<
    object | string,
    { readonly resourceKind: string; readonly getCallSite: () => string }
  >();
  const restorers = Object.entries(closeMethods).flatMap(([name, closeMethod]) => {
    const nativeClass: unknown = Reflect.get(globalThis, name);
    const Resource = typeof nativeClass === "function" ? nativeClass : class extends StubResource {};
    const prototype = Resource.prototype as Partial<Record<string, (this: object) => unknown>>;
    const close = prototype[closeMethod];
    const trackingProxy = new Proxy(Resource, {
      construct: (target, parameters: unknown[], newTarget) => {
        const instance = Reflect.construct(target, parameters, newTarget) as object;
        openResources.set(instance, { resourceKind: name, getCallSite: captureCallSite() });
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
      openResources.set(url, { resourceKind: "object URL", getCallSite: captureCallSite() });
      return url;
    }),
    replaceMember(URL, "revokeObjectURL", (url: string) => {
      openResources.delete(url);
      revokeObjectURL?.(url);
    }),
  );

  return {
    listHeldResources: () =>
      [...openResources.values()].map(({ resourceKind, getCallSite }) => ({ resourceKind, locate: getCallSite })),
    stop: () => {
      for (const restoreMember of restorers.reverse()) restoreMember();
    },
  };
}
