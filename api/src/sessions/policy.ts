import type { VerifiedIdentity } from "../auth/identity-provider.ts";
import { Problem } from "../http/problem.ts";
import type { VendorSettings, Vendors } from "../vendors/vendors.ts";

/** Anybody may exchange a token, for a vendor that is known and enabled. */
export function authorizeExchange(vendors: Vendors, vendorId: string): VendorSettings {
  const vendor = vendors.find(vendorId);
  if (vendor === null) throw new Problem("vendor_unknown");
  if (!vendor.enabled) throw new Problem("vendor_disabled");
  return vendor;
}

/** What is known of a provider's session: nothing, when the token names none. */
export interface ProviderSessionHistory {
  readonly known: boolean;
  /** When somebody last signed out of it. */
  readonly signedOutAt: Date | null;
  /** When another session of the account last ended it. */
  readonly closedAt: Date | null;
}

/**
 * A session may begin while the operator keeps the account open, with a token from after the last
 * sign-out, and after another session closed this one.
 */
export function authorizeSession(
  { lockedAt }: { readonly lockedAt: Date | null },
  { issuedAt, authTime }: VerifiedIdentity,
  { signedOutAt, closedAt }: ProviderSessionHistory,
): void {
  if (lockedAt !== null) throw new Problem("forbidden", { detail: "the account is locked" });
  if (signedOutAt !== null && issuedAt <= toSeconds(signedOutAt)) throw new Problem("token_invalid");
  if (closedAt !== null && (authTime === null || authTime <= toSeconds(closedAt))) throw new Problem("token_invalid");
}

const toSeconds = (date: Date): number => Math.floor(date.getTime() / 1_000);
