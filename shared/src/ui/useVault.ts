import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from "react";

import { usePortal, type Portal } from "../contract/portal.ts";
import type { Visitor } from "../contract/sharing.ts";
import type { Vault, VaultState } from "../contract/vault.ts";
import { toPortalError, type PortalError } from "../errors/index.ts";

/** The vault for a screen: loading, ready, or failed. */
export type VaultAccess = LoadingAccess | FailedAccess | { readonly status: "ready"; readonly vault: Vault };
/** The visitor for a page opened by a link: loading, ready, or failed. */
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
 * Returns the portal's vault. If it fails, a screen shows the failure in its own area, and the rest
 * of the page keeps working.
 */
export function useVault(): VaultAccess {
  const access = useService(getVault);
  return useMemo(() => (access.status === "ready" ? { status: "ready", vault: access.service } : access), [access]);
}

/** Returns the portal's visitor, for pages opened by a link. */
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
  // Read once per attempt, because after a failure each read of the member starts another attempt.
  const { promise } = useMemo(() => ({ attempt, promise: getService(portal) }), [portal, getService, attempt]);
  useEffect(() => {
    let isCurrent = true;
    const finish = (access: ServiceAccess<Service>) => {
      if (isCurrent) setOutcome({ promise, access });
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
      isCurrent = false;
    };
  }, [promise]);
  return outcome?.promise === promise ? outcome.access : loading;
}

const unknownState: VaultState = { status: "unknown" };

/** Returns the vault's current state; `unknown` while there is no vault. */
export function useVaultState(access: VaultAccess): VaultState {
  const vault = access.status === "ready" ? access.vault : null;
  const subscribe = useCallback((listener: () => void) => vault?.subscribe(listener) ?? (() => undefined), [vault]);
  return useSyncExternalStore(subscribe, () => vault?.getState() ?? unknownState);
}
