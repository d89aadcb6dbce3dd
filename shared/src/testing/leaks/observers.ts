import { describeNode, captureCallSite, replaceMember, type ResourceTracker } from "./resource-tracker.ts";

type ObserverMethod = (this: object, ...parameters: unknown[]) => unknown;

class StubObserver {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
  takeRecords(): [] {
    return [];
  }
}

const observerNames = ["MutationObserver", "ResizeObserver", "IntersectionObserver"];

/**
 * Tracks observers of elements that are still in the page. jsdom has no layout and lacks two of the
 * three observer classes, so stubs replace those.
 */
export function watchObservers(): ResourceTracker {
  const observations = new Map<object, { readonly name: string; readonly nodes: Map<Node, () => string> }>();
  const restorers = observerNames.flatMap((name) => {
    const nativeClass: unknown = Reflect.get(globalThis, name);
    const Observer = typeof nativeClass === "function" ? nativeClass : class extends StubObserver {};
    const prototype = Observer.prototype as Record<"observe" | "unobserve" | "disconnect", ObserverMethod>;
    const { observe, unobserve, disconnect } = prototype;
    return [
      replaceMember(globalThis, name, Observer),
      replaceMember(prototype, "observe", function (this: object, node: unknown, ...rest: unknown[]) {
        Reflect.apply(observe, this, [node, ...rest]);
        const observation = observations.get(this) ?? { name, nodes: new Map<Node, () => string>() };
        if (node instanceof Node) observation.nodes.set(node, captureCallSite());
        observations.set(this, observation);
      }),
      replaceMember(prototype, "unobserve", function (this: object, node: unknown) {
        if (node instanceof Node) observations.get(this)?.nodes.delete(node);
        Reflect.apply(unobserve, this, [node]);
      }),
      replaceMember(prototype, "disconnect", function (this: object) {
        observations.delete(this);
        Reflect.apply(disconnect, this, []);
      }),
    ];
  });

  return {
    listHeldResources: () =>
      [...observations.values()].flatMap(({ name, nodes }) =>
        [...nodes]
          .filter(([node]) => node.isConnected)
          .map(([node, callSite]) => ({ resourceKind: `${name} of ${describeNode(node)}`, locate: callSite })),
      ),
    stop: () => {
      for (const restoreMember of restorers.reverse()) restoreMember();
    },
  };
}
