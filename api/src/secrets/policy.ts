import type { Actor } from "../auth/session-tokens.ts";

/** Queries of secrets take one of these, so that none can be made without asking the policy. */
export interface OwnSecrets {
  readonly accountId: string;
  readonly vendorId: string;
}

/**
 * Secrets are their owner's alone. Rows are looked for under the actor's own account, so another's
 * id is not found.
 */
export function secretsPolicy({ accountId, vendorId }: Actor): OwnSecrets {
  return { accountId, vendorId };
}
