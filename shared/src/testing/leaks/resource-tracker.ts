/** Something that stays in the page until somebody ends it. */
export interface HeldResource {
  /** The same words for what each round leaves anew, such as `listener "resize" of window`. */
  readonly resourceKind: string;
  /** Which one it is, for whoever has to find it. */
  readonly locate: () => string;
}

/** Keeps account of one kind of things that a screen has to end. */
export interface ResourceTracker {
  readonly listHeld: () => HeldResource[];
  /** Told each time that a screen has gone. */
  readonly handleUnmount?: () => void;
  readonly stop: () => void;
}

/** Puts something in the place of a member, or where there is none. @returns how to put it back. */
export function replaceMember(owner: object, name: string, value: unknown): () => void {
  const original = Object.getOwnPropertyDescriptor(owner, name);
  Object.defineProperty(owner, name, { value, configurable: true, enumerable: true, writable: true });
  return () => {
    if (original === undefined) Reflect.deleteProperty(owner, name);
    else Object.defineProperty(owner, name, original);
  };
}

/**
 * Where in the code this is called from: in a remote's own, if it is there. Read from the stack
 * only when it is asked for.
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
