import { ProviderCerts, type TokenCerts } from "@relicario/shared/api";
import type { JSONWebKeySet } from "jose";

import type { SessionTokens } from "./session-tokens.ts";

export function presentTokenCerts({ publicKeys }: SessionTokens): TokenCerts {
  return { keys: [...publicKeys] };
}

/** @throws ZodError when the provider publishes something that is no key set. */
export function presentProviderCerts(keys: JSONWebKeySet): ProviderCerts {
  return ProviderCerts.parse(keys);
}
