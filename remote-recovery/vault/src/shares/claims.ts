import { claimMinutes, toB64u } from "@relicario/shared/api";

import { randomBytes } from "../seal/bytes.ts";

/**
 * Ids of views that were asked for: an opening that failed on its way goes on with the view that it
 * has, and costs no second one.
 */
export interface Claims {
  /** The id for an opening of this share: that of a try before, as long as the service keeps it. */
  readonly idFor: (shareId: string) => string;
  /** It was opened: the next opening is another view. */
  readonly spent: (shareId: string) => void;
}

export function createClaims(now: () => number): Claims {
  const kept = new Map<string, { readonly id: string; readonly until: number }>();
  return {
    idFor: (shareId) => {
      const before = kept.get(shareId);
      if (before !== undefined && now() < before.until) return before.id;
      const id = toB64u(randomBytes(16));
      kept.set(shareId, { id, until: now() + claimMinutes * 60_000 });
      return id;
    },
    spent: (shareId) => {
      kept.delete(shareId);
    },
  };
}
