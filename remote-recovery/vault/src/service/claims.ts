import { claimLifetimeMinutes, toBase64url } from "@relicario/shared/api";

import { randomBytes } from "../seal/bytes.ts";

/**
 * Ids of views that were asked for: an opening that failed on its way goes on with the view that it
 * has, and costs no second one.
 */
export interface ViewClaims {
  /** The id for an opening of this share: that of a try before, as long as the service keeps it. */
  readonly idFor: (shareId: string) => string;
  /** It was opened: the next opening is another view. */
  readonly markUsed: (shareId: string) => void;
}

export function createClaims(now: () => number): ViewClaims {
  const claims = new Map<string, { readonly id: string; readonly expiresAt: number }>();
  return {
    idFor: (shareId) => {
      const existing = claims.get(shareId);
      if (existing !== undefined && now() < existing.expiresAt) return existing.id;
      const id = toBase64url(randomBytes(16));
      claims.set(shareId, { id, expiresAt: now() + claimLifetimeMinutes * 60_000 });
      return id;
    },
    markUsed: (shareId) => {
      claims.delete(shareId);
    },
  };
}
