import type { Audience } from "@relicario/shared/api";

import type { AccountScope, Actor } from "../auth/actor.ts";

/** Not exported: only this file can create a {@link Visitor}. */
const visitorBrand = Symbol("granted");

/** The caller who reads or opens a share. */
export interface Visitor {
  /** Shares for other audiences look missing. */
  readonly audiences: readonly Audience[];
  readonly actor: AccountScope | null;
  readonly [visitorBrand]: true;
}

/** For `public` links, with a session or without. */
export function authorizePublicVisitor(actor: Actor | null): Visitor {
  return { audiences: ["public"], actor, [visitorBrand]: true };
}

/** For links for signed-in people, and shares with this account. */
export function authorizeSignedInVisitor(actor: Actor): Visitor {
  return { audiences: ["signed_in", "person"], actor, [visitorBrand]: true };
}

/**
 * Only the recipient sees a share for a person, only people of the same vendor a link for signed-in
 * people.
 */
export function canVisit(
  { audiences, actor }: Visitor,
  share: { audience: Audience; recipientId: string | null; vendorId: string },
): boolean {
  if (!audiences.includes(share.audience)) return false;
  if (share.audience === "public") return true;
  return (
    actor?.vendorId === share.vendorId && (share.audience === "signed_in" || actor.accountId === share.recipientId)
  );
}
