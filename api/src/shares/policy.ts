import type { Audience } from "@relicario/shared/api";

import type { Actor } from "../auth/session-tokens.ts";

export interface SharesScope {
  readonly accountId: string;
  readonly vendorId: string;
}

/**
 * Shares are made, listed, changed and ended by their owner alone: rows are looked for under the
 * actor's own account.
 */
export function authorizeShares({ accountId, vendorId }: Actor): SharesScope {
  return { accountId, vendorId };
}

/** Who looks at a share or opens it. */
export interface Visitor {
  /** Shares for others are not there for this call. */
  readonly audiences: readonly Audience[];
  readonly actor: SharesScope | null;
}

/** `public` links, for whoever has one; signed in or not. */
export function authorizePublicVisitor(actor: Actor | null): Visitor {
  return { audiences: ["public"], actor };
}

/** Links for signed-in people, and what was shared with this account. */
export function authorizeSignedInVisitor(actor: Actor): Visitor {
  return { audiences: ["signed_in", "person"], actor };
}

/**
 * Nobody but the recipient finds a person's share, and nobody of another vendor a link for
 * signed-in people.
 */
export function mayVisit(
  { audiences, actor }: Visitor,
  share: { audience: Audience; recipientId: string | null; vendorId: string },
): boolean {
  if (!audiences.includes(share.audience)) return false;
  if (share.audience === "public") return true;
  return (
    actor?.vendorId === share.vendorId && (share.audience === "signed_in" || actor.accountId === share.recipientId)
  );
}
