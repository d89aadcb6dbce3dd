import type { Vault } from "@relicario/shared/contract";

/** The vault of a portal object: loaded when first read and, after a failure, at the next read. */
export interface VaultHolder {
  readonly get: () => Promise<Vault>;
  readonly hasFailed: () => boolean;
}

export function createVaultHolder(loadVault: () => Promise<Vault>): VaultHolder {
  let vaultPromise: Promise<Vault> | null = null;
  let failed = false;
  return {
    get: () => {
      if (vaultPromise !== null) return vaultPromise;
      const promise = loadVault();
      vaultPromise = promise;
      promise.then(
        () => {
          failed = false;
        },
        () => {
          failed = true;
          vaultPromise = null; // a person's "Try again" reads the member again
        },
      );
      return promise;
    },
    hasFailed: () => failed,
  };
}
