import type { Actor } from "../auth/session-tokens.ts";

/** Queries of secrets take one of these, so that none can be made without asking the policy. */
export interface SecretsScope {
  readonly accountId: string;
  readonly vendorId: string;
}

/**
 * Secrets are their owner's alone. Rows are looked for under the actor's own account, so another's
 * id is not found.
 */
export function authorizeSecrets({ accountId, vendorId }: Actor): SecretsScope {
  return { accountId, vendorId };
}
