import type { EstimateStrength } from "../session/vault-session.ts";

/** Separate from the vault's worker, which starts with every page and needs no dictionaries. */
export interface StrengthWorkerApi {
  /** Resolves when the worker runs. */
  readonly ping: () => undefined;
  readonly estimateStrength: EstimateStrength;
}
