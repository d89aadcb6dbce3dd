import type { ContentKind, OpenedContent } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";

/** Content that a test provides. */
export interface FakeContent {
  readonly content: string;
  readonly contentKind?: ContentKind;
  readonly name?: string;
  readonly mime?: string;
  /**
   * Whether it is too large for memory. Once opened, its `content` is null and `save` returns it.
   */
  readonly large?: boolean;
}

/**
 * Creates an opened content like that of a vault: a large content cannot be saved after disposal or
 * a lock.
 */
export function createOpenedContent(
  { content, contentKind = "text", name = "secret.txt", mime = "text/plain", large = false }: FakeContent,
  isLocked: () => boolean = () => false,
): OpenedContent & { readonly isDisposed: () => boolean } {
  const bytes = Uint8Array.from(new TextEncoder().encode(content));
  let disposed = false;
  return {
    contentKind,
    name,
    mime,
    size: bytes.length,
    content: large ? null : bytes,
    save: async (target, options) => {
      if (options?.signal?.aborted === true) throw new PortalError("cancelled");
      if (large && (disposed || isLocked())) throw new PortalError("vault_locked");
      if (large) options?.onProgress?.({ phase: "opening", done: bytes.length, total: bytes.length });
      if (target === null) return new Blob([bytes], { type: mime });
      const file = await target.createWritable();
      await file.write(bytes);
      await file.close();
      return null;
    },
    dispose: () => {
      disposed = true;
    },
    isDisposed: () => disposed || isLocked(),
  };
}
