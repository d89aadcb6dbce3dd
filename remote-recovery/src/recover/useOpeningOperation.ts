import {
  usePortal,
  type CallOptions,
  type OpenerHandle,
  type Vault,
  type VaultProgress,
} from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState } from "react";

import { setOpenedSecret } from "./opened-secret.ts";
import type { Purpose } from "./purpose.ts";

export type OpeningState =
  | { readonly status: "running"; readonly progress: VaultProgress | null }
  | { readonly status: "failed"; readonly error: PortalError }
  | { readonly status: "done" };

/** Opens what the picture is shown for, as soon as there is a vault. Leaving the screen cancels. */
export function useOpeningOperation(vault: Vault | null, purpose: Purpose, openerHandle: OpenerHandle): OpeningState {
  const portal = usePortal();
  const queryClient = useQueryClient();
  const [openingState, setOpeningState] = useState<OpeningState>({ status: "running", progress: null });

  const runOperation = useEffectEvent(
    async (readyVault: Vault, options: CallOptions & { readonly signal: AbortSignal }): Promise<void> => {
      if (purpose.kind === "unlock") return readyVault.unlock(openerHandle, options);
      if (purpose.kind === "check_copy") {
        await readyVault.checkCopy(purpose.secretId, openerHandle, options);
        void queryClient.invalidateQueries(); // lists on other screens say when it was rehearsed
        return;
      }
      const { secretId, version } = purpose;
      const recovered = await readyVault.openSecret(
        secretId,
        openerHandle,
        version === null ? options : { ...options, version },
      );
      if (options.signal.aborted) {
        recovered.content?.fill(0);
        recovered.dispose();
      } else setOpenedSecret(recovered, portal);
    },
  );
  useEffect(() => {
    if (vault === null) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    const updateState = (next: OpeningState) => {
      if (!signal.aborted) setOpeningState(next);
    };
    const onProgress = (progress: VaultProgress) => {
      updateState({ status: "running", progress });
    };
    runOperation(vault, { signal, onProgress }).then(
      () => {
        updateState({ status: "done" });
      },
      (error: unknown) => {
        updateState({ status: "failed", error: toPortalError(error) });
      },
    );
    return () => {
      controller.abort();
    };
  }, [vault]);
  return openingState;
}
