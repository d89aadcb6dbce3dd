import { usePortal, type Vault } from "@relicario/shared/contract";
import { runUnlocked, useVaultOperation } from "@relicario/shared/forms";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";

import { toProtectRequest, type BackupDraft } from "./backup-draft.ts";

type ProtectedSecret = Awaited<ReturnType<Vault["protect"]>>;

/**
 * Protects the draft on mount; unmounting cancels and publishes nothing. If the vault was unlocked
 * without an opener, protecting requires one: the operation asks for it. After success the next
 * screen replaces this one, so that going back does not protect again.
 */
export function useProtect(vault: Vault, draft: BackupDraft) {
  const { navigate } = usePortal();
  const queryClient = useQueryClient();
  const operation = useVaultOperation({ vault });
  const start = () => {
    operation.start<ProtectedSecret | null>({
      run: runUnlocked(vault, async (options) => {
        const request = toProtectRequest(draft);
        if (request === null) return null; // unreachable: this screen needs a complete draft
        return vault.protect(request, options); // the flow releases the picture when it is left
      }),
      onDone: (protectedSecret) => {
        if (protectedSecret === null) return;
        const query = new URLSearchParams({ secret: protectedSecret.secretId }).toString();
        navigate(`/safeguard?${query}`, { replace: true });
      },
      onSettled: () => void queryClient.invalidateQueries(), // lists of other screens lack the new secret
    });
  };
  const startOnMount = useEffectEvent(start);
  useEffect(() => {
    startOnMount();
  }, []);
  return { operation, start };
}
