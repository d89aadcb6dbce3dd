import type { Actor } from "../auth/session-tokens.ts";
import { authorizeFreshSignIn } from "../reset-account/policy.ts";

export interface DeletionScope {
  readonly accountId: string;
}

/**
 * Whoever is to lose everything signs in again first: a session that was stolen is not enough.
 * @throws Problem `login_required`
 */
export function authorizeDeletion(actor: Actor, now: Date): DeletionScope {
  return authorizeFreshSignIn(actor, now);
}

/** Any session calls it off. */
export function authorizeRestore({ accountId }: Actor): DeletionScope {
  return { accountId };
}
