import type { Actor } from "../auth/session-tokens.ts";

export interface AccountResetScope {
  readonly accountId: string;
}

/**
 * Any session of an account sees how things stand, and may object: whoever still has a device of it
 * needs no opener for that.
 */
export function authorizeAccountReset({ accountId }: Actor): AccountResetScope {
  return { accountId };
}
