import type { Audience } from "@relicario/shared/api";

import type { AccountScope, Actor } from "../auth/actor.ts";

/** No other file can name it, so no other file makes what carries it. */
const granted = Symbol("granted");

/** Who looks at a share or opens it. */
export interface Visitor {
  /** Shares for others are not there for this call. */
  readonly audiences: readonly Audience[];
  readonly actor: AccountScope | null;
  readonly [granted]: true;
}

/** `public` links, for whoever has one; signed in or not. */
export function authorizePublicVisitor(actor: Actor | null): Visitor {
  return { audiences: ["public"], actor, [granted]: true };
}

/** Links for signed-in people, and what was shared with this account. */
export function authorizeSignedInVisitor(actor: Actor): Visitor {
  return { audiences: ["signed_in", "person"], actor, [granted]: true };
}

/**
 * Nobody but the recipient finds a person's share, and nobody of another vendor a link for
 * signed-in people.
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
