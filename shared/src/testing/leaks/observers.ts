import { nameOfNode, placeOfCall, replace, type Account } from "./held.ts";

type Act = (this: object, ...given: unknown[]) => unknown;

class StandIn {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
  takeRecords(): [] {
    return [];
  }
}

const names = ["MutationObserver", "ResizeObserver", "IntersectionObserver"];

/**
 * Observers of what is still in the page. One whose element went with the screen goes with it.
 * jsdom has no layout, so that two of the three are stand-ins there, which see nothing.
 */
export function watchObservers(): Account {
  const observed = new Map<object, { readonly name: string; readonly nodes: Map<Node, () => string> }>();
  const restore = names.flatMap((name) => {
    const known: unknown = Reflect.get(globalThis, name);
    const Observer = typeof known === "function" ? known : class extends StandIn {};
    const prototype = Observer.prototype as Record<"observe" | "unobserve" | "disconnect", Act>;
    const { observe, unobserve, disconnect } = prototype;
    return [
      replace(globalThis, name, Observer),
      replace(prototype, "observe", function (this: object, node: unknown, ...rest: unknown[]) {
        Reflect.apply(observe, this, [node, ...rest]);
        const one = observed.get(this) ?? { name, nodes: new Map<Node, () => string>() };
        if (node instanceof Node) one.nodes.set(node, placeOfCall());
        observed.set(this, one);
      }),
      replace(prototype, "unobserve", function (this: object, node: unknown) {
        if (node instanceof Node) observed.get(this)?.nodes.delete(node);
        Reflect.apply(unobserve, this, [node]);
      }),
      replace(prototype, "disconnect", function (this: object) {
        observed.delete(this);
        Reflect.apply(disconnect, this, []);
      }),
    ];
  });

  return {
    held: () =>
      [...observed.values()].flatMap(({ name, nodes }) =>
        [...nodes]
          .filter(([node]) => node.isConnected)
          .map(([node, place]) => ({ what: `${name} of ${nameOfNode(node)}`, which: place })),
      ),
    stop: () => {
      for (const undo of restore.reverse()) undo();
    },
  };
}
