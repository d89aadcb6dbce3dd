import type { Actor } from "../auth/session-tokens.ts";

export interface AccountScope {
  readonly accountId: string;
  readonly vendorId: string;
}

/** Everybody sees and changes their own account, and no other: none can be named in a call. */
export function authorizeAccount({ accountId, vendorId }: Actor): AccountScope {
  return { accountId, vendorId };
}
