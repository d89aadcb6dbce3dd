import { sessionRetentionDays } from "@relicario/shared/api";

import type { VerifiedIdentity } from "../auth/identity-provider.ts";
import { Problem } from "../http/problem.ts";
import type { VendorSettings, Vendors } from "../vendors/vendors.ts";

/** Allows the exchange for a known and enabled vendor. */
export function authorizeExchange(vendors: Vendors, vendorId: string): VendorSettings {
  const vendor = vendors.find(vendorId);
  if (vendor === null) throw new Problem("vendor_unknown");
  if (!vendor.enabled) throw new Problem("vendor_disabled");
  return vendor;
}

/**
 * Earlier sessions of this service from the same session of the provider; empty when the token
 * names none.
 */
export interface ProviderSessionHistory {
  readonly isKnown: boolean;
  /**
   * Latest sign-in, by the provider's clock, that the revoked sessions came from; `Infinity` where
   * one has no sign-in time, null when none was revoked.
   */
  readonly revokedSignInAt: number | null;
}

/**
 * Allows a session of an account that is not locked. A revoked session of the provider stays closed
 * until the person signs in there again, which only the provider's times can show. An unknown
 * session of the provider is refused when it is older than the retention of sessions: it may have
 * been revoked.
 */
export function authorizeSession(
  { lockedAt }: { readonly lockedAt: Date | null },
  { authTime, authTimeHere }: VerifiedIdentity,
  { isKnown, revokedSignInAt }: ProviderSessionHistory,
  now = Date.now(),
): void {
  if (lockedAt !== null) throw new Problem("forbidden", { detail: "the account is locked" });
  const oldestSignIn = now / 1_000 - sessionRetentionDays * 86_400;
  if (!isKnown && authTimeHere !== null && authTimeHere < oldestSignIn) throw new Problem("token_invalid");
  if (revokedSignInAt !== null && (authTime === null || authTime <= revokedSignInAt))
    throw new Problem("token_invalid");
}
