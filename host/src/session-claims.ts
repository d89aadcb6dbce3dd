import type { SessionClaims } from "@relicario/shared/api";

import { heldSession, type ExchangeState } from "./session/token-exchange.ts";

/** The claims that hold now; while a new token is under way, those of the last one. */
export function claimsOf(exchange: ExchangeState): SessionClaims | null {
  return heldSession(exchange)?.claims ?? null;
}
