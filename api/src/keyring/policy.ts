import type { Actor } from "../auth/session-tokens.ts";

export interface KeyringScope {
  readonly accountId: string;
}

/**
 * A keyring is its owner's alone. The account comes from the session, never from the call, so there
 * is no other to ask for.
 */
export function authorizeKeyring({ accountId }: Actor): KeyringScope {
  return { accountId };
}

export interface DirectoryScope {
  readonly vendorId: string;
}

/**
 * Who is signed in may look up the key of anybody of the same vendor, by user name; the calls are
 * limited.
 */
export function authorizeDirectory({ vendorId }: Actor): DirectoryScope {
  return { vendorId };
}
