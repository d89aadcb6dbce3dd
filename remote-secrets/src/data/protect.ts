import { usePortal, type ProtectRequest, type Vault, type VaultProgress } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { secretKeys } from "./secrets.ts";

export type Saving =
  | { readonly status: "idle" }
  | { readonly status: "running"; readonly progress: VaultProgress | null }
  | { readonly status: "failed"; readonly error: PortalError };

/** Seals and publishes one secret. Leaving the screen cancels; what is half done is published by nobody. */
export function useProtect(onSaved: (secretId: string) => void) {
  const { user } = usePortal();
  const client = useQueryClient();
  const [saving, setSaving] = useState<Saving>({ status: "idle" });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const protect = async (vault: Vault, request: ProtectRequest): Promise<void> => {
    const own = new AbortController();
    running.current = own;
    setSaving({ status: "running", progress: null });
    try {
      const { secretId } = await vault.protect(request, {
        signal: own.signal,
        onProgress: (progress) => {
          if (!own.signal.aborted) setSaving({ status: "running", progress });
        },
      });
      void client.invalidateQueries({ queryKey: secretKeys.all(user.userId) });
      setSaving({ status: "idle" });
      onSaved(secretId);
    } catch (error) {
      if (own.signal.aborted) setSaving({ status: "idle" });
      else setSaving({ status: "failed", error: toPortalError(error) });
    }
  };
  const cancel = () => {
    running.current?.abort();
  };
  return { saving, protect, cancel };
}
