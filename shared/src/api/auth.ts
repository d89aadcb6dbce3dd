import { z } from "zod";

import { Id } from "./wire.ts";

/**
 * Body and answer of `POST /auth/token?app_vendor_id=`: the identity provider's access token for
 * the product's session token.
 */
export const TokenExchangeBody = z.strictObject({ token: z.string().min(1).max(16_384) });
export type TokenExchangeBody = z.infer<typeof TokenExchangeBody>;

/** `GET /auth/token-certs`: the current and the next key, so that rotation breaks nobody. */
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
    .min(1),
});
export type TokenJwks = z.infer<typeof TokenJwks>;

/** `GET /auth/certs`: the keys of the identity provider that this service trusts. */
export const ProviderJwks = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });
export type ProviderJwks = z.infer<typeof ProviderJwks>;

/** Claims of a session token. `exp`, `iat`, `auth_time` in seconds since 1970. */
export const SessionClaims = z.looseObject({
  /** The account's immutable id: `user_id` of every sealed document. */
  sub: Id,
  /**
   * The service, by its address (`api.base_url` of the deployment), and the portal that the token
   * is for, by its client id.
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
