import type { VaultProgress } from "@relicario/shared/contract";

/** What every operation takes beside its arguments. */
export interface OperationOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: VaultProgress) => void;
}
