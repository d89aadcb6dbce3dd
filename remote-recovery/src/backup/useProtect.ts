import { usePortal, type CallOptions, type Vault, type VaultProgress } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { releaseOpener } from "@relicario/vault/presented-opener";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState } from "react";

import { toProtectRequest, type BackupDraft } from "./backup-draft.ts";

export type ProtectState =
  | { readonly status: "running"; readonly progress: VaultProgress | null }
  | { readonly status: "failed"; readonly error: PortalError };

/**
 * Protects what the draft says, as soon as the screen is there; leaving it cancels, and nothing is
 * half published. Afterwards the next screen of the flow takes its place: going back from there
 * does not protect a second time.
 */
export function useProtect(vault: Vault, draft: BackupDraft) {
  const { navigate } = usePortal();
  const queryClient = useQueryClient();
  const [attempt, setAttempt] = useState(0);
  const [protectState, setProtectState] = useState<ProtectState>({ status: "running", progress: null });

  const protectDraft = useEffectEvent(
    async (options: CallOptions & { readonly signal: AbortSignal }): Promise<void> => {
      const request = toProtectRequest(draft);
      if (request === null) return; // the flow shows this screen only with a whole draft
      try {
        const { secretId } = await vault.protect(request, options);
        void queryClient.invalidateQueries(); // lists on other screens were read before it was there
        if (!options.signal.aborted)
          navigate(`/safeguard?${new URLSearchParams({ secret: secretId }).toString()}`, { replace: true });
      } finally {
        if (request.protection.kind === "picture") releaseOpener(request.protection.picture);
      }
    },
  );
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const onProgress = (progress: VaultProgress) => {
      if (!signal.aborted) setProtectState({ status: "running", progress });
    };
    protectDraft({ signal, onProgress }).catch((error: unknown) => {
      if (!signal.aborted) setProtectState({ status: "failed", error: toPortalError(error) });
    });
    return () => {
      controller.abort();
    };
  }, [attempt]);

  const retry = () => {
    setProtectState({ status: "running", progress: null });
    setAttempt((previous) => previous + 1);
  };
  return { protectState, retry };
}
