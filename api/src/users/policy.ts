import type { Actor } from "../auth/session-tokens.ts";

export interface OwnAccount {
  readonly accountId: string;
  readonly vendorId: string;
}

/** Everybody sees and changes their own account, and no other: none can be named in a call. */
export function accountPolicy({ accountId, vendorId }: Actor): OwnAccount {
  return { accountId, vendorId };
}
