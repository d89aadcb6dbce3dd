import { z } from "zod";

import { maxProviderKeys } from "./limits.ts";
import { Id, plainText } from "./wire.ts";

/**
 * Body and response of `POST /auth/token?app_vendor_id=`. The body has the identity provider's
 * access token, the response the product's session token.
 */
export const TokenExchangeBody = z.strictObject({ token: plainText(16_384).min(1) });
export type TokenExchangeBody = z.infer<typeof TokenExchangeBody>;

/**
 * Response of `GET /auth/token-certs`: the current and the next key. A token signed after a key
 * rotation verifies with the next key.
 */
export const TokenJwks = z.strictObject({
  keys: z
    .array(
      z.strictObject({
        kid: z.string(),
        alg: z.literal("EdDSA"),
        kty: z.literal("OKP"),
        crv: z.literal("Ed25519"),
        x: z.string(),
      }),
    )
    .min(1)
    .max(maxProviderKeys),
});
export type TokenJwks = z.infer<typeof TokenJwks>;

/** Response of `GET /auth/certs`: the identity provider's keys that this service trusts. */
export const ProviderJwks = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(maxProviderKeys) });
export type ProviderJwks = z.infer<typeof ProviderJwks>;

/**
 * Claims of a session token. Times in seconds since 1970; `auth_time` by the provider's clock.
 */
export const SessionClaims = z.looseObject({
  /** Immutable id of the account: `user_id` of every sealed document. */
  sub: Id,
  /**
   * Address of the service (`api.base_url` of the deployment). `aud` is the client id of the
   * portal.
   */
  iss: z.string(),
  aud: z.string(),
  vid: z.string(),
  sid: z.string(),
  iat: z.int(),
  exp: z.int(),
  auth_time: z.int().optional(),
});
export type SessionClaims = z.infer<typeof SessionClaims>;
