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

export interface OwnSession {
  readonly accountId: string;
  readonly sessionId: string;
}

/** A session may end itself. */
export function signOutPolicy({ accountId, sessionId }: Actor): OwnSession {
  return { accountId, sessionId };
}
