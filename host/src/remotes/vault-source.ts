import type { LockReason, PortalForServices, Vault } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import { createStore } from "zustand/vanilla";

import type { ParsedModule } from "./remote-module.ts";

export interface VaultSource {
  /**
   * The vault of this sign-in, created by the first call. Rejects with `vault_unavailable`, or
   * `remote_incompatible` when its frame runs another version than this page; the next call tries
   * again.
   */
  readonly get: () => Promise<Vault>;
  /** Calls the listener after the vault has locked. Returns an unsubscribe function. */
  readonly onLocked: (listener: () => void) => () => void;
  /** Locks the vault, if there is one. At sign-out, signs it out and drops it. */
  readonly lock: (reason: LockReason) => Promise<void>;
  /** Drops a vault whose frame is gone; the next call of `get` creates another. */
  readonly drop: () => void;
  /** Calls the listener after {@link drop}. Returns an unsubscribe function. */
  readonly onDropped: (listener: () => void) => () => void;
  /** Locks and drops the vault for good: recovery's release was disabled. */
  readonly stop: () => Promise<void>;
}

export interface VaultSourceDeps {
  readonly loadRecovery: () => Promise<Pick<ParsedModule, "provides">>;
  /** The portal that the vault gets; rejects while no one is signed in. */
  readonly createVaultPortal: () => Promise<PortalForServices>;
}

/** Loads the recovery remote on demand, and calls its vault factory once per sign-in. */
export function createVaultSource({ loadRecovery, createVaultPortal }: VaultSourceDeps): VaultSource {
  let currentVault: Promise<Vault> | null = null;
  let isStopped = false;
  /** Number of locks so far. */
  const lockCount = createStore(() => 0);
  /** Number of vaults whose frame was gone. */
  const dropCount = createStore(() => 0);

  const createVault = async (): Promise<Vault> => {
    try {
      const [{ provides }, servicePortal] = await Promise.all([loadRecovery(), createVaultPortal()]);
      if (provides?.vault === undefined) throw new PortalError("remote_refused");
      return await provides.vault(servicePortal);
    } catch (error) {
      const { code } = toPortalError(error);
      if (code === "remote_incompatible") throw error; // reloading helps, trying again does not
      throw new PortalError("vault_unavailable", { cause: error, details: { reason: code } });
    }
  };

  const watchLocks = (vault: Vault) => {
    let wasUnlocked = vault.getState().status === "unlocked";
    vault.subscribe(() => {
      const isUnlocked = vault.getState().status === "unlocked";
      if (wasUnlocked && !isUnlocked) lockCount.setState((count) => count + 1);
      wasUnlocked = isUnlocked;
    });
  };

  return Object.freeze<VaultSource>({
    get: () => {
      if (isStopped)
        return Promise.reject(new PortalError("vault_unavailable", { details: { reason: "remote_disabled" } }));
      if (currentVault !== null) return currentVault;
      const vaultPromise = createVault();
      currentVault = vaultPromise;
      vaultPromise.then(watchLocks, () => {
        if (currentVault === vaultPromise) currentVault = null;
      });
      return vaultPromise;
    },
    onLocked: (listener) =>
      lockCount.subscribe(() => {
        listener();
      }),
    lock: async (reason) => {
      const vaultPromise = currentVault;
      if (vaultPromise === null) return;
      if (reason === "sign_out") currentVault = null;
      const vault = await vaultPromise.catch(() => null); // a vault that failed to load holds nothing
      if (vault === null) return;
      if (reason === "sign_out") await vault.signOut();
      else if (vault.getState().status === "unlocked") await vault.lock(); // another lock would abort newer reads
    },
    drop: () => {
      currentVault = null;
      dropCount.setState((count) => count + 1);
    },
    onDropped: (listener) =>
      dropCount.subscribe(() => {
        listener();
      }),
    stop: async () => {
      isStopped = true;
      const vaultPromise = currentVault;
      currentVault = null;
      const vault = await (vaultPromise?.catch(() => null) ?? null); // a vault that failed to load holds nothing
      await vault?.lock();
    },
  });
}
