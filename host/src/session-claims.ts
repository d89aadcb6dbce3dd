import type { SessionClaims } from "@relicario/shared/api";

import type { ExchangeState } from "./session/token-exchange.ts";

/** The claims that hold now; while a new token is under way, those of the last one. */
export function claimsOf(exchange: ExchangeState): SessionClaims | null {
  if (exchange.status === "ready") return exchange.session.claims;
  return exchange.status === "exchanging" ? (exchange.previous?.claims ?? null) : null;
}
