import type { LockReason, PortalForServices, Vault } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import { createStore } from "zustand/vanilla";

import type { RemoteFace } from "./face.ts";

export interface VaultSource {
  /** The vault of this sign-in, made when it is first asked for. Rejects with `vault_unavailable`; asking again tries anew. */
  readonly get: () => Promise<Vault>;
  /** Called after the vault locked itself, or was made anew. Returns its undo. */
  readonly onLocked: (listener: () => void) => () => void;
  /** Puts away what a vault that was made holds, and forgets it at sign-out. */
  readonly putAway: (reason: LockReason) => Promise<void>;
  /** Recovery's release was switched off: locks what was made, forgets it, and makes none any more. */
  readonly stop: () => Promise<void>;
}

export interface VaultSourceParts {
  readonly loadRecovery: () => Promise<Pick<RemoteFace, "provides">>;
  /** Who is signed in; rejects when nobody is. */
  readonly portal: () => Promise<PortalForServices>;
}

/** Loads recovery on demand and calls its vault factory once per sign-in. */
export function createVaultSource({ loadRecovery, portal }: VaultSourceParts): VaultSource {
  let current: Promise<Vault> | null = null;
  let stopped = false;
  /** How often a vault locked. */
  const locks = createStore(() => 0);

  const make = async (): Promise<Vault> => {
    try {
      const [{ provides }, forServices] = await Promise.all([loadRecovery(), portal()]);
      if (provides?.vault === undefined) throw new PortalError("remote_refused");
      return await provides.vault(forServices);
    } catch (error) {
      const { code } = toPortalError(error);
      throw new PortalError("vault_unavailable", { cause: error, details: { because: code } });
    }
  };

  const watch = (vault: Vault) => {
    let wasUnlocked = vault.getState().status === "unlocked";
    vault.subscribe(() => {
      const isUnlocked = vault.getState().status === "unlocked";
      if (wasUnlocked && !isUnlocked) locks.setState((count) => count + 1);
      wasUnlocked = isUnlocked;
    });
  };

  return Object.freeze<VaultSource>({
    get: () => {
      if (stopped) return Promise.reject(new PortalError("vault_unavailable", { details: { because: "remote_disabled" } }));
      if (current !== null) return current;
      const made = make();
      current = made;
      made.then(watch, () => {
        if (current === made) current = null;
      });
      return made;
    },
    onLocked: (listener) => locks.subscribe(() => {
      listener();
    }),
    putAway: async (reason) => {
      const made = current;
      if (made === null) return;
      if (reason === "sign_out") current = null;
      const vault = await made.catch(() => null); // one that never came to be holds nothing
      if (vault === null) return;
      if (reason === "sign_out") await vault.signOut();
      else if (vault.getState().status === "unlocked") await vault.lock();
    },
    stop: async () => {
      stopped = true;
      const made = current;
      current = null;
      const vault = await (made?.catch(() => null) ?? null); // one that never came to be holds nothing
      if (vault?.getState().status === "unlocked") await vault.lock();
    },
  });
}
