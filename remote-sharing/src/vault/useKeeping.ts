import { maxTitleLength } from "@relicario/shared/api";
import type { OpenedContent, ProtectRequest, Vault, VaultProgress } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { useEffect, useRef, useState } from "react";

export type Keeping =
  | { readonly status: "idle" }
  | { readonly status: "kept"; readonly secretId: string }
  | { readonly status: "running"; readonly progress: VaultProgress | null }
  | { readonly status: "failed"; readonly error: PortalError };

export interface KeepingAccess {
  readonly keeping: Keeping;
  /** `before` runs first, such as unlocking. */
  readonly keep: (vault: Vault, protection: ProtectRequest["protection"], before?: (options: { readonly signal: AbortSignal }) => Promise<void>) => Promise<void>;
  readonly cancel: () => void;
}

/** Protects what somebody sent as one's own: new content identity, new ticket, own pictures. Leaving the page cancels it. */
export function useKeeping(opened: OpenedContent, title: string): KeepingAccess {
  const [keeping, setKeeping] = useState<Keeping>({ status: "idle" });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const keep: KeepingAccess["keep"] = async (vault, protection, before) => {
    const controller = new AbortController();
    running.current = controller;
    const { signal } = controller;
    const onProgress = (progress: VaultProgress) => {
      if (!signal.aborted) setKeeping({ status: "running", progress });
    };
    setKeeping({ status: "running", progress: null });
    try {
      await before?.({ signal });
      const content = opened.content === null ? await opened.save(null, { signal, onProgress }) : new Blob([opened.content]);
      if (content === null) return;
      const { contentKind, name, mime } = opened;
      const { secretId } = await vault.protect({ title: title.slice(0, maxTitleLength), tags: [], contentKind, name, mime, content, protection }, { signal, onProgress });
      if (!signal.aborted) setKeeping({ status: "kept", secretId });
    } catch (error) {
      if (!signal.aborted) setKeeping({ status: "failed", error: toPortalError(error) });
    }
  };
  const cancel = () => {
    running.current?.abort();
    setKeeping({ status: "idle" });
  };
  return { keeping, keep, cancel };
}
