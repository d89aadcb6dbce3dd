import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from "react";

import { usePortal, type Portal } from "../contract/portal.ts";
import type { Visitor } from "../contract/sharing.ts";
import type { Vault, VaultState } from "../contract/vault.ts";
import { toPortalError, type PortalError } from "../errors/index.ts";

/** The vault as a screen sees it: loading, ready, or failed. */
export type VaultAccess = LoadingAccess | FailedAccess | { readonly status: "ready"; readonly vault: Vault };
/** The same for the visitor of a page opened by a link. */
export type VisitorAccess = LoadingAccess | FailedAccess | { readonly status: "ready"; readonly visitor: Visitor };

interface LoadingAccess {
  readonly status: "loading";
}

interface FailedAccess {
  readonly status: "failed";
  readonly error: PortalError;
  readonly retry: () => void;
}

/**
 * The portal's vault. A screen that needs it shows a failure in its own area; the rest of the page
 * keeps working.
 */
export function useVault(): VaultAccess {
  const access = useService(getVault);
  return useMemo(() => (access.status === "ready" ? { status: "ready", vault: access.service } : access), [access]);
}

/** The portal's visitor, for pages opened by a link. */
export function useVisitor(): VisitorAccess {
  const access = useService(getVisitor);
  return useMemo(() => (access.status === "ready" ? { status: "ready", visitor: access.service } : access), [access]);
}

type ServiceAccess<Service> = LoadingAccess | FailedAccess | { readonly status: "ready"; readonly service: Service };

const getVault = (portal: Portal) => portal.vault;
const getVisitor = (portal: Portal) => portal.visitor;
const loading: LoadingAccess = { status: "loading" };

function useService<Service>(getService: (portal: Portal) => Promise<Service>): ServiceAccess<Service> {
  const portal = usePortal();
  const [attempt, setAttempt] = useState(0);
  const [outcome, setOutcome] = useState<{
    readonly promise: Promise<Service>;
    readonly access: ServiceAccess<Service>;
  } | null>(null);
  // Read once per attempt: after a failure each read of the portal's member would give another
  // promise.
  const { promise } = useMemo(() => ({ attempt, promise: getService(portal) }), [portal, getService, attempt]);
  useEffect(() => {
    let current = true;
    const finish = (access: ServiceAccess<Service>) => {
      if (current) setOutcome({ promise, access });
    };
    const retry = () => {
      setAttempt((previous) => previous + 1);
    };
    promise.then(
      (service) => {
        finish({ status: "ready", service });
      },
      (error: unknown) => {
        finish({ status: "failed", error: toPortalError(error), retry });
      },
    );
    return () => {
      current = false;
    };
  }, [promise]);
  return outcome?.promise === promise ? outcome.access : loading;
}

const unknownState: VaultState = { status: "unknown" };

/** The state of the vault, kept up to date. `unknownState` while there is no vault. */
export function useVaultState(access: VaultAccess): VaultState {
  const vault = access.status === "ready" ? access.vault : null;
  const subscribe = useCallback((listener: () => void) => vault?.subscribe(listener) ?? (() => undefined), [vault]);
  return useSyncExternalStore(subscribe, () => vault?.getState() ?? unknownState);
}
