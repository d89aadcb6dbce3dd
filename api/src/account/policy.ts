import type { Actor } from "../auth/session-tokens.ts";
import { freshSignInPolicy } from "../start-anew/policy.ts";

export interface OwnDeletion {
  readonly accountId: string;
}

/**
 * Whoever is to lose everything signs in again first: a session that was stolen is not enough.
 * @throws Problem `login_required`
 */
export function deletePolicy(actor: Actor, now: Date): OwnDeletion {
  return freshSignInPolicy(actor, now);
}

/** Any session calls it off. */
export function restorePolicy({ accountId }: Actor): OwnDeletion {
  return { accountId };
}
