import type { VaultProgress } from "@relicario/shared/contract";

export interface OperationOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: VaultProgress) => void;
}
