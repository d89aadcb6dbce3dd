import {
  usePortal,
  type CallOptions,
  type ShownImage,
  type Vault,
  type VaultProgress,
} from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState } from "react";

import { keepOpened } from "./opened-secret.ts";
import type { Purpose } from "./purpose.ts";

export type Opening =
  | { readonly status: "running"; readonly progress: VaultProgress | null }
  | { readonly status: "failed"; readonly error: PortalError }
  | { readonly status: "done" };

/** Opens what the picture is shown for, as soon as there is a vault. Leaving the screen cancels. */
export function useOpening(vault: Vault | null, purpose: Purpose, image: ShownImage): Opening {
  const portal = usePortal();
  const client = useQueryClient();
  const [opening, setOpening] = useState<Opening>({ status: "running", progress: null });

  const act = useEffectEvent(
    async (ready: Vault, options: CallOptions & { readonly signal: AbortSignal }): Promise<void> => {
      if (purpose.kind === "unlock") return ready.unlock(image, options);
      if (purpose.kind === "rehearse") {
        await ready.rehearse(purpose.secretId, image, options);
        void client.invalidateQueries(); // lists on other screens say when it was rehearsed
        return;
      }
      const { secretId, version } = purpose;
      const recovered = await ready.recover(secretId, image, version === null ? options : { ...options, version });
      if (options.signal.aborted) {
        recovered.content?.fill(0);
        recovered.putAway();
      } else keepOpened(recovered, portal);
    },
  );
  useEffect(() => {
    if (vault === null) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    const tell = (next: Opening) => {
      if (!signal.aborted) setOpening(next);
    };
    const onProgress = (progress: VaultProgress) => {
      tell({ status: "running", progress });
    };
    act(vault, { signal, onProgress }).then(
      () => {
        tell({ status: "done" });
      },
      (error: unknown) => {
        tell({ status: "failed", error: toPortalError(error) });
      },
    );
    return () => {
      controller.abort();
    };
  }, [vault]);
  return opening;
}
