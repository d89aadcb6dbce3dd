import { SessionClaims, type TokenCerts } from "@relicario/shared/api";
import { isPortalError, PortalError, toPortalError } from "@relicario/shared/errors";
import { createRemoteJWKSet, customFetch, errors, jwtVerify } from "jose";

/** The words of the specification, section 5. */
export const tamperedTokenWarning = "Invalid token signature. Check the token source, may be a tampered token.";

/** In milliseconds: a key that is not known makes the set be asked for again at most so often, and how long that may take. */
export const certNumbers = { cooldownMs: 10_000, timeoutMs: 5_000 } as const;

export interface TokenChecks {
  /** Where `GET /auth/token-certs` is. */
  readonly address: URL;
  /** Makes that call. jose asks for it when it needs keys: at first, when they are older than ten minutes, and when a token names another: keys rotate. */
  readonly certs: (signal: AbortSignal) => Promise<TokenCerts>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly warn: (message: string) => void;
}

/**
 * Checks product session tokens: EdDSA signature by a key of the service, claims of the right shape, not expired. Null for
 * a token that does not hold; rejects only when the keys cannot be had.
 */
export function createTokenVerifier({ address, certs, now, warn }: TokenChecks): (token: string) => Promise<SessionClaims | null> {
  const keys = createRemoteJWKSet(address, {
    cooldownDuration: certNumbers.cooldownMs,
    timeoutDuration: certNumbers.timeoutMs,
    // By our client: it knows about cookies and the answer's schema, and says what went wrong as everybody else does.
    [customFetch]: async (_address, { signal }) => {
      try {
        return Response.json(await certs(signal));
      } catch (error) {
        throw signal.aborted ? new PortalError("service_unavailable", { cause: error }) : toPortalError(error);
      }
    },
  });

  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, keys, { algorithms: ["EdDSA"], currentDate: new Date(now()), requiredClaims: ["exp", "iat", "sub"] });
      const claims = SessionClaims.safeParse(payload);
      return claims.success ? claims.data : null;
    } catch (error) {
      if (isPortalError(error)) throw error; // of our client: no keys
      if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey) warn(tamperedTokenWarning);
      return null; // expired, malformed or tampered: it is no token
    }
  };
}
