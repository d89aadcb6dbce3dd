import type { OpenedContent } from "@relicario/shared/contract";

/** Overwrites an opened content, and disposes it in the vault. */
export function wipeOpened({
  content,
  dispose,
}: Pick<OpenedContent, "content"> & { readonly dispose: () => void }): void {
  content?.fill(0);
  dispose();
}
