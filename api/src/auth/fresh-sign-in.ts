import { freshSignInMinutes } from "@relicario/shared/api";

import { Problem } from "../http/problem.ts";
import type { Actor } from "./actor.ts";
import type { IdentityProvider } from "./identity-provider.ts";

/**
 * Guards operations that a stolen session must not be able to perform. Judges the
 * sign-in by the provider's clock, since the services' clocks may differ.
 *
 * @throws Problem `login_required` when the sign-in is 5 minutes old or of unknown age,
 *   `service_unavailable` when the provider's time is unknown.
 */
export async function requireFreshSignIn(
  actor: Actor,
  { identityProvider }: { readonly identityProvider: Pick<IdentityProvider, "readSkew"> },
  now: Date,
): Promise<Actor> {
  const age =
    actor.authTime === null ? Infinity : now.getTime() / 1_000 + (await identityProvider.readSkew()) - actor.authTime;
  if (age >= freshSignInMinutes * 60) throw new Problem("login_required", { detail: "the sign-in is not fresh" });
  return actor;
}
