import { usePortal, type CallOptions, type Vault, type VaultProgress } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { forgetShown } from "@relicario/vault/shown-image";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState } from "react";

import { requestOf, type BackupDraft } from "./backup-draft.ts";

export type Protecting =
  | { readonly status: "running"; readonly progress: VaultProgress | null }
  | { readonly status: "failed"; readonly error: PortalError };

/**
 * Protects what the draft says, as soon as the screen is there; leaving it cancels, and nothing is
 * half published. Afterwards the next screen of the flow takes its place: going back from there
 * does not protect a second time.
 */
export function useProtecting(vault: Vault, draft: BackupDraft) {
  const { navigate } = usePortal();
  const client = useQueryClient();
  const [attempt, setAttempt] = useState(0);
  const [protecting, setProtecting] = useState<Protecting>({ status: "running", progress: null });

  const act = useEffectEvent(async (options: CallOptions & { readonly signal: AbortSignal }): Promise<void> => {
    const request = requestOf(draft);
    if (request === null) return; // the flow shows this screen only with a whole draft
    try {
      const { secretId } = await vault.protect(request, options);
      void client.invalidateQueries(); // lists on other screens were read before it was there
      if (!options.signal.aborted)
        navigate(`/safeguard?${new URLSearchParams({ secret: secretId }).toString()}`, { replace: true });
    } finally {
      if (request.protection.kind === "picture") forgetShown(request.protection.shown);
    }
  });
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const onProgress = (progress: VaultProgress) => {
      if (!signal.aborted) setProtecting({ status: "running", progress });
    };
    act({ signal, onProgress }).catch((error: unknown) => {
      if (!signal.aborted) setProtecting({ status: "failed", error: toPortalError(error) });
    });
    return () => {
      controller.abort();
    };
  }, [attempt]);

  const again = () => {
    setProtecting({ status: "running", progress: null });
    setAttempt((before) => before + 1);
  };
  return { protecting, again };
}
