import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from "react";

import { usePortal } from "../contract/portal.ts";
import type { Vault, VaultState } from "../contract/vault.ts";
import { toPortalError, type PortalError } from "../errors/index.ts";

/** The vault as a screen sees it: loading, ready, or failed. */
export type VaultAccess =
  | { readonly status: "loading" }
  | { readonly status: "ready"; readonly vault: Vault }
  | { readonly status: "failed"; readonly error: PortalError; readonly retry: () => void };

/** The portal's vault. A screen that needs it shows a failure in its own area; the rest of the page keeps working. */
export function useVault(): VaultAccess {
  const portal = usePortal();
  const [attempt, setAttempt] = useState(0);
  const [settled, setSettled] = useState<{ readonly promise: Promise<Vault>; readonly access: VaultAccess } | null>(null);
  // Read once per attempt: after a failure each read of `portal.vault` would give another promise.
  const { promise } = useMemo(() => ({ attempt, promise: portal.vault }), [portal, attempt]);
  useEffect(() => {
    let current = true;
    const settle = (access: VaultAccess) => {
      if (current) setSettled({ promise, access });
    };
    const retry = () => {
      setAttempt((before) => before + 1);
    };
    promise.then(
      (vault) => {
        settle({ status: "ready", vault });
      },
      (error: unknown) => {
        settle({ status: "failed", error: toPortalError(error), retry });
      },
    );
    return () => {
      current = false;
    };
  }, [promise]);
  return settled?.promise === promise ? settled.access : { status: "loading" };
}

const unknown: VaultState = { status: "unknown" };

/** The state of the vault, kept up to date. `unknown` while there is no vault. */
export function useVaultState(access: VaultAccess): VaultState {
  const vault = access.status === "ready" ? access.vault : null;
  const subscribe = useCallback((listener: () => void) => vault?.subscribe(listener) ?? (() => undefined), [vault]);
  return useSyncExternalStore(subscribe, () => vault?.getState() ?? unknown);
}
