import { generateKeyPair, randomBytes, randomUUID } from "node:crypto";
import { promisify } from "node:util";

/** Two secret environment variables, which the start command generates once and stores (0600). */
interface IdentityKeys {
  /**
   * JWKS with one private RS256 key. To rotate, put a new key first and keep the old one until its
   * tokens have expired.
   */
  readonly IDENTITY_KEYS: string;
  /** JSON list of texts of 256 random bits: the first signs cookies, all verify. */
  readonly COOKIE_KEYS: string;
}

export async function generateIdentityKeys(): Promise<IdentityKeys> {
  const { privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength: 2048 });
  const key = { ...privateKey.export({ format: "jwk" }), kid: randomUUID(), alg: "RS256", use: "sig" };
  return {
    IDENTITY_KEYS: JSON.stringify({ keys: [key] }),
    COOKIE_KEYS: JSON.stringify([randomBytes(32).toString("base64url")]),
  };
}
