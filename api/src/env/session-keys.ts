import { z } from "zod";

const base64url32Bytes = z.string().regex(/^[A-Za-z0-9_-]{43}$/, "holds a key that is not 32 bytes in base64url");

/**
 * A private Ed25519 key as JWK. The first of `SESSION_KEYS` signs; all verify, so that tokens
 * survive a rotation.
 */
export const ed25519PrivateJwk = z.object({
  kty: z.literal("OKP", "holds a key that is not OKP"),
  crv: z.literal("Ed25519", "holds a key that is not Ed25519"),
  kid: z.string("holds a key without kid").min(1),
  x: base64url32Bytes,
  d: base64url32Bytes,
});
export type SessionKey = z.infer<typeof ed25519PrivateJwk>;
