import { freshSignInMinutes } from "@relicario/shared/api";

import type { Actor } from "../auth/session-tokens.ts";
import { Problem } from "../http/problem.ts";

export interface AccountResetScope {
  readonly accountId: string;
}

/**
 * Any session of an account sees how things stand, and may object: whoever still has a device of it
 * needs no opener for that.
 */
export function authorizeAccountReset({ accountId }: Actor): AccountResetScope {
  return { accountId };
}

/**
 * Asking, and beginning: there is no key left to sign with, so the person signs in again. A session
 * that was stolen is not enough.
 *
 * @throws Problem `login_required` for a sign-in that is 5 minutes old, or of which the provider
 *   does not say when it was.
 */
export function authorizeFreshSignIn(actor: Actor, now: Date): AccountResetScope {
  const age = actor.authTime === null ? Infinity : now.getTime() / 1_000 - actor.authTime;
  if (age >= freshSignInMinutes * 60) throw new Problem("login_required", { detail: "the sign-in is not fresh" });
  return authorizeAccountReset(actor);
}
