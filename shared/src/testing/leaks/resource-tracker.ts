/** A resource that exists until it is released. */
export interface HeldResource {
  /** The same text for each resource of a kind, such as `listener "resize" of window`. */
  readonly resourceKind: string;
  /** Returns where the resource was created. */
  readonly locate: () => string;
}

/** Tracks one kind of resource that screens have to release. */
export interface ResourceTracker {
  readonly listHeldResources: () => HeldResource[];
  /** Called after each unmount. */
  readonly handleUnmount?: () => void;
  readonly stop: () => void;
}

/**
 * Sets a member of an object.
 *
 * @returns a function that restores the original member
 */
export function replaceMember(owner: object, name: string, value: unknown): () => void {
  const original = Object.getOwnPropertyDescriptor(owner, name);
  Object.defineProperty(owner, name, { value, configurable: true, enumerable: true, writable: true });
  return () => {
    if (original === undefined) Reflect.deleteProperty(owner, name);
    else Object.defineProperty(owner, name, original);
  };
}

/**
 * Captures the call site: the innermost stack line outside `node_modules`, if any. Reads the stack
 * only when the returned function is called.
 */
export function captureCallSite(): () => string {
  const error = new Error();
  return () => {
    const lines = (error.stack ?? "")
      .split("\n")
      .filter((line) => /^\s+at /.test(line) && !/testing[\\/]leaks[\\/]|node:/.test(line));
    return (lines.find((line) => !line.includes("node_modules")) ?? lines[0] ?? "at an unknown place").trim();
  };
}

export function describeNode(node: Node): string {
  return node instanceof Element ? `<${node.localName}>` : node.nodeName;
}
