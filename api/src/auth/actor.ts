/** No other file can name it, so no other file makes what carries it. */
const granted = Symbol("granted");

/**
 * An account whose rows may be read and changed for whoever calls. Queries take one, so that an id
 * out of a call never says whose rows are meant.
 */
export interface AccountScope {
  readonly accountId: string;
  readonly vendorId: string;
  readonly [granted]: true;
}

/** Who calls, once the session token was checked: each sees and changes their own account alone. */
export interface Actor extends AccountScope {
  readonly sessionId: string;
  /** Seconds; null when the provider does not say: then the sign-in counts as old. */
  readonly authTime: number | null;
}

export interface SessionOwner {
  readonly accountId: string;
  readonly vendorId: string;
  readonly sessionId: string;
  readonly authTime: number | null;
}

/** For the verifier of session tokens. */
export function grantSession(owner: SessionOwner): Actor {
  return { ...owner, [granted]: true };
}

/**
 * For what the service does without a session of the account: in a sweep, as a signed change says,
 * or for whoever showed a grant of its owner's.
 */
export function grantAccount(accountId: string, vendorId: string): AccountScope {
  return { accountId, vendorId, [granted]: true };
}
