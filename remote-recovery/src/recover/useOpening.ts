import { usePortal, type ShownImage, type Vault, type VaultProgress } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { useEffect, useRef, useState } from "react";

import { keepOpened } from "./opened-secret.ts";

export type Opening =
  | { readonly status: "idle" }
  | { readonly status: "running"; readonly progress: VaultProgress | null }
  | { readonly status: "failed"; readonly error: PortalError }
  | { readonly status: "done" };

/** Opens the account, or one secret of it, an older version where one is named, with a picture. Leaving the screen cancels. */
export function useOpening(secretId: string | null, version: number | null = null) {
  const portal = usePortal();
  const [opening, setOpening] = useState<Opening>({ status: "idle" });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const open = async (vault: Vault, shown: ShownImage): Promise<void> => {
    const own = new AbortController();
    running.current = own;
    setOpening({ status: "running", progress: null });
    const options = {
      signal: own.signal,
      onProgress: (progress: VaultProgress) => {
        if (!own.signal.aborted) setOpening({ status: "running", progress });
      },
    };
    try {
      if (secretId === null) {
        await vault.unlock(shown, options);
      } else {
        const recovered = await vault.recover(secretId, shown, version === null ? options : { ...options, version });
        if (own.signal.aborted) {
          recovered.content?.fill(0);
          recovered.putAway();
          return;
        }
        keepOpened(recovered, portal);
      }
      if (!own.signal.aborted) setOpening({ status: "done" });
    } catch (error) {
      if (!own.signal.aborted) setOpening({ status: "failed", error: toPortalError(error) });
    }
  };
  const cancel = () => {
    running.current?.abort();
    setOpening({ status: "idle" });
  };
  return { opening, open, cancel };
}
