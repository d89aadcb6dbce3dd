import { requireFreshSignIn } from "../auth/fresh-sign-in.ts";
import type { Actor } from "../auth/session-tokens.ts";

export interface DeletionScope {
  readonly accountId: string;
}

/**
 * Whoever is to lose everything signs in again first: a session that was stolen is not enough.
 * @throws Problem `login_required`
 */
export function authorizeDeletion(actor: Actor, now: Date): DeletionScope {
  return requireFreshSignIn(actor, now);
}

/** Any session calls it off. */
export function authorizeRestore({ accountId }: Actor): DeletionScope {
  return { accountId };
}
