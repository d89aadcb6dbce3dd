import { useState } from "react";

import type { ContentKind, OpenedContent, OpenedHandle, OpenedViewProps } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";

/** Content that a test provides. */
export interface FakeContent {
  readonly content: string;
  readonly contentKind?: ContentKind;
  readonly name?: string;
  readonly mime?: string;
  /** Whether it is too large for memory. */
  readonly large?: boolean;
}

type HeldContent = Required<Omit<FakeContent, "large">>;

class FakeOpenedHandle implements OpenedHandle {
  readonly [Symbol.toStringTag] = "OpenedHandle";
}

const readersByHandle = new WeakMap<OpenedHandle, () => HeldContent>();

/** Creates an opened content like that of a vault. */
export function createOpenedContent(
  { content, contentKind = "text", name = "secret.txt", mime = "text/plain" }: FakeContent,
  isLocked: () => boolean = () => false,
): OpenedContent {
  let disposed = false;
  const handle = Object.freeze(new FakeOpenedHandle());
  readersByHandle.set(handle, () => {
    if (disposed || isLocked()) throw new PortalError("vault_locked");
    return { content, contentKind, name, mime };
  });
  return {
    contentKind,
    name,
    mime,
    size: new TextEncoder().encode(content).length,
    handle,
    View: createFakeOpenedView(handle),
    dispose: () => {
      disposed = true;
    },
  };
}

/**
 * Returns what a handle stands for, which only the vault's origin has.
 *
 * @throws PortalError `vault_locked` after disposal or a lock, and for any other object
 */
export function readOpened(handle: OpenedHandle): HeldContent {
  const read = readersByHandle.get(handle);
  if (read === undefined) throw new PortalError("vault_locked");
  return read();
}

function createFakeOpenedView(handle: OpenedHandle) {
  return function FakeOpenedView({ title }: OpenedViewProps) {
    const [text, setText] = useState<string | null>(null);
    return (
      <section aria-label={`Content of ${title}`}>
        <button
          type="button"
          onClick={() => {
            setText(readOpened(handle).content);
          }}
        >
          Show
        </button>
        {text !== null && <p>{text}</p>}
      </section>
    );
  };
}
