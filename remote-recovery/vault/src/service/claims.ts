import { claimLifetimeMinutes, toBase64url } from "@relicario/shared/api";

import { randomBytes } from "../seal/bytes.ts";

/** Ids of claimed views, so that repeating an interrupted opening does not use a second view. */
export interface ViewClaims {
  /** Returns the id of a claim: the one of an earlier attempt, as long as the service keeps it. */
  readonly getClaimId: (shareId: string) => string;
  /** Called after an opening; the next opening claims another view. */
  readonly markUsed: (shareId: string) => void;
}

export function createClaims(now: () => number): ViewClaims {
  const claims = new Map<string, { readonly id: string; readonly expiresAt: number }>();
  return {
    getClaimId: (shareId) => {
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
