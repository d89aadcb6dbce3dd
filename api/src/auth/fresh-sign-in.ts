import { freshSignInMinutes } from "@relicario/shared/api";

import { Problem } from "../http/problem.ts";
import type { Actor } from "./actor.ts";

/**
 * What a stolen session is not enough for: the person signs in again.
 *
 * @throws Problem `login_required` for a sign-in that is 5 minutes old, or of which the provider
 *   does not say when it was.
 */
export function requireFreshSignIn(actor: Actor, now: Date): Actor {
  const age = actor.authTime === null ? Infinity : now.getTime() / 1_000 - actor.authTime;
  if (age >= freshSignInMinutes * 60) throw new Problem("login_required", { detail: "the sign-in is not fresh" });
  return actor;
}
