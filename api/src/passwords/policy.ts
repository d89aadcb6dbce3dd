import type { Actor } from "../auth/session-tokens.ts";

export interface OwnIdentity {
  readonly accountId: string;
  readonly vendorId: string;
  readonly sessionId: string;
}

/**
 * Everybody changes their own password, at the provider that they signed in with; the old one shows
 * that it is them.
 */
export function passwordPolicy({ accountId, vendorId, sessionId }: Actor): OwnIdentity {
  return { accountId, vendorId, sessionId };
}
