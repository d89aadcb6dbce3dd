import type { Actor } from "../auth/session-tokens.ts";

export interface OwnKeyring {
  readonly accountId: string;
}

/**
 * A keyring is its owner's alone. The account comes from the session, never from the call, so there
 * is no other to ask for.
 */
export function keyringPolicy({ accountId }: Actor): OwnKeyring {
  return { accountId };
}

export interface Directory {
  readonly vendorId: string;
}

/**
 * Who is signed in may look up the key of anybody of the same vendor, by user name; the calls are
 * limited.
 */
export function directoryPolicy({ vendorId }: Actor): Directory {
  return { vendorId };
}
