import { SessionClaims, type TokenCerts } from "@relicario/shared/api";
import { createLocalJWKSet, errors, jwtVerify } from "jose";

/** The words of the specification, section 5. */
export const tamperedTokenWarning = "Invalid token signature. Check the token source, may be a tampered token.";

export interface TokenChecks {
  /** `GET /auth/token-certs`. Asked once, and again when a token names a key that is not among them: keys rotate. */
  readonly certs: () => Promise<TokenCerts>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly warn: (message: string) => void;
}

/**
 * Checks product session tokens: EdDSA signature by a key of the service, claims of the right shape, not expired. Null for
 * a token that does not hold; rejects only when the keys cannot be had.
 */
export function createTokenVerifier({ certs, now, warn }: TokenChecks): (token: string) => Promise<SessionClaims | null> {
  let known: Promise<TokenCerts> | null = null;

  const keys = (anew: boolean): Promise<TokenCerts> => {
    if (known === null || anew) {
      const asked = certs();
      known = asked;
      asked.catch(() => {
        if (known === asked) known = null; // a failure is not remembered
      });
    }
    return known;
  };

  const verify = async (token: string, anew: boolean): Promise<SessionClaims | null> => {
    const set = createLocalJWKSet({ keys: (await keys(anew)).keys });
    try {
      const { payload } = await jwtVerify(token, set, { algorithms: ["EdDSA"], currentDate: new Date(now()), requiredClaims: ["exp", "iat", "sub"] });
      const claims = SessionClaims.safeParse(payload);
      return claims.success ? claims.data : null;
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey && !anew) return verify(token, true);
      if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey) warn(tamperedTokenWarning);
      return null; // expired, malformed or tampered: it is no token
    }
  };
  return (token) => verify(token, false);
}
