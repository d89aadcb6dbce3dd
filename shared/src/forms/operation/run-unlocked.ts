import type { OpenerHandle, Vault } from "../../contract/index.ts";
import type { OperationOptions } from "./useVaultOperation.ts";

/**
 * Runs an operation that takes no opener itself. After `show_opener_first`, unlocks with the opener
 * that was asked for, which stays until the lock.
 */
export function runUnlocked<Result>(
  vault: Pick<Vault, "unlock">,
  run: (options: OperationOptions) => Promise<Result>,
): (options: OperationOptions, opener: OpenerHandle | null) => Promise<Result> {
  return async (options, opener) => {
    if (opener !== null) await vault.unlock(opener, options);
    return run(options);
  };
}
