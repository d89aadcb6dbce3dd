/** Not exported: only this file can create these types. */
const scopeBrand = Symbol("granted");

/**
 * An account whose rows the call may read and change. Queries take one, so that an id from a
 * request never selects the account.
 */
export interface AccountScope {
  readonly accountId: string;
  readonly vendorId: string;
  readonly [scopeBrand]: true;
}

/** The caller, once the session token is verified. */
export interface Actor extends AccountScope {
  readonly sessionId: string;
  /** Seconds since 1970; null when the provider does not say, which counts as an old sign-in. */
  readonly authTime: number | null;
}

export interface SessionOwner {
  readonly accountId: string;
  readonly vendorId: string;
  readonly sessionId: string;
  readonly authTime: number | null;
}

/** Only for the verifier of session tokens. */
export function createActor(owner: SessionOwner): Actor {
  return { ...owner, [scopeBrand]: true };
}

/**
 * For work without a session of the account: sweeps, a signed keyring change, the holder of a grant
 * that its owner issued.
 */
export function createAccountScope(accountId: string, vendorId: string): AccountScope {
  return { accountId, vendorId, [scopeBrand]: true };
}
