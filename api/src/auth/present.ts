import { ProviderJwks, type TokenJwks } from "@relicario/shared/api";
import type { JSONWebKeySet } from "jose";

import type { SessionTokens } from "./session-tokens.ts";

export function presentTokenCerts({ publicKeys }: SessionTokens): TokenJwks {
  return { keys: [...publicKeys] };
}

/** @throws ZodError when the provider publishes something other than a key set. */
export function presentProviderCerts(keys: JSONWebKeySet): ProviderJwks {
  return ProviderJwks.parse(keys);
}
