import type { Actor } from "../auth/session-tokens.ts";

export interface IdentityScope {
  readonly accountId: string;
  readonly vendorId: string;
  readonly sessionId: string;
}

/**
 * Everybody changes their own password, at the provider that they signed in with; the old one shows
 * that it is them.
 */
export function authorizePasswordChange({ accountId, vendorId, sessionId }: Actor): IdentityScope {
  return { accountId, vendorId, sessionId };
}
