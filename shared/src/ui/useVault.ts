import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from "react";

import { usePortal, type Portal } from "../contract/portal.ts";
import type { Visitor } from "../contract/sharing.ts";
import type { Vault, VaultState } from "../contract/vault.ts";
import { toPortalError, type PortalError } from "../errors/index.ts";

/** The vault as a screen sees it: loading, ready, or failed. */
export type VaultAccess = Pending | Failed | { readonly status: "ready"; readonly vault: Vault };
/** The same for the visitor of a page opened by a link. */
export type VisitorAccess = Pending | Failed | { readonly status: "ready"; readonly visitor: Visitor };

interface Pending {
  readonly status: "loading";
}

interface Failed {
  readonly status: "failed";
  readonly error: PortalError;
  readonly retry: () => void;
}

/**
 * The portal's vault. A screen that needs it shows a failure in its own area; the rest of the page
 * keeps working.
 */
export function useVault(): VaultAccess {
  const access = useService(vaultOf);
  return useMemo(() => (access.status === "ready" ? { status: "ready", vault: access.service } : access), [access]);
}

/** The portal's visitor, for pages opened by a link. */
export function useVisitor(): VisitorAccess {
  const access = useService(visitorOf);
  return useMemo(() => (access.status === "ready" ? { status: "ready", visitor: access.service } : access), [access]);
}

type Access<Service> = Pending | Failed | { readonly status: "ready"; readonly service: Service };

const vaultOf = (portal: Portal) => portal.vault;
const visitorOf = (portal: Portal) => portal.visitor;
const pending: Pending = { status: "loading" };

function useService<Service>(serviceOf: (portal: Portal) => Promise<Service>): Access<Service> {
  const portal = usePortal();
  const [attempt, setAttempt] = useState(0);
  const [settled, setSettled] = useState<{
    readonly promise: Promise<Service>;
    readonly access: Access<Service>;
  } | null>(null);
  // Read once per attempt: after a failure each read of the portal's member would give another
  // promise.
  const { promise } = useMemo(() => ({ attempt, promise: serviceOf(portal) }), [portal, serviceOf, attempt]);
  useEffect(() => {
    let current = true;
    const settle = (access: Access<Service>) => {
      if (current) setSettled({ promise, access });
    };
    const retry = () => {
      setAttempt((before) => before + 1);
    };
    promise.then(
      (service) => {
        settle({ status: "ready", service });
      },
      (error: unknown) => {
        settle({ status: "failed", error: toPortalError(error), retry });
      },
    );
    return () => {
      current = false;
    };
  }, [promise]);
  return settled?.promise === promise ? settled.access : pending;
}

const unknown: VaultState = { status: "unknown" };

/** The state of the vault, kept up to date. `unknown` while there is no vault. */
export function useVaultState(access: VaultAccess): VaultState {
  const vault = access.status === "ready" ? access.vault : null;
  const subscribe = useCallback((listener: () => void) => vault?.subscribe(listener) ?? (() => undefined), [vault]);
  return useSyncExternalStore(subscribe, () => vault?.getState() ?? unknown);
}
