import type { ProvenIdentity } from "./identity-provider.ts";
import type { Actor } from "./session-tokens.ts";
import { Problem } from "../http/problem.ts";
import type { KnownVendor, Vendors } from "../vendors/vendors.ts";

/** Anybody may exchange a token, for a vendor that is known and enabled. */
export function exchangePolicy(vendors: Vendors, vendorId: string): KnownVendor {
  const vendor = vendors.find(vendorId);
  if (vendor === null) throw new Problem("vendor_unknown");
  if (!vendor.enabled) throw new Problem("vendor_disabled");
  return vendor;
}

/**
 * A session may begin while the operator keeps the account open, with a token from after the last sign-out.
 *
 * @param signedOutAt of the provider's session that the token comes from
 */
export function sessionPolicy({ lockedAt }: { readonly lockedAt: Date | null }, { issuedAt }: ProvenIdentity, signedOutAt: Date | null): void {
  if (lockedAt !== null) throw new Problem("forbidden", { detail: "the account is locked" });
  if (signedOutAt !== null && issuedAt <= Math.floor(signedOutAt.getTime() / 1_000)) throw new Problem("token_invalid");
}

export interface OwnSession {
  readonly accountId: string;
  readonly sessionId: string;
}

/** A session may end itself. */
export function signOutPolicy({ accountId, sessionId }: Actor): OwnSession {
  return { accountId, sessionId };
}
