import { Me } from "@relicario/shared/api";
import { getNextCopyCheckAt, usePortal } from "@relicario/shared/contract";
import { useVaultState, type VaultAccess } from "@relicario/shared/ui";
import { useEffect } from "react";

/**
 * Reports to the service when the next copy check is due, for its reminder. Ignores failures: the
 * home screen reports again.
 */
export function useReportCopyCheckDue(access: VaultAccess): void {
  const { http } = usePortal();
  const vault = access.status === "ready" ? access.vault : null;
  const { status } = useVaultState(access);
  useEffect(() => {
    if (vault === null || status !== "unlocked") return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    const report = async () => {
      const rehearsal_due_at = getNextCopyCheckAt(await vault.list({ signal }));
      await http.request("POST", "/user/me", Me, { body: { rehearsal_due_at }, signal });
    };
    report().catch(() => undefined);
    return () => {
      controller.abort();
    };
  }, [vault, status, http]);
}
