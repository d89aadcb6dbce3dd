import { SessionClaims, type TokenJwks } from "@relicario/shared/api";
import { isPortalError, PortalError, toPortalError } from "@relicario/shared/errors";
import { createRemoteJWKSet, customFetch, errors, jwtVerify } from "jose";

/** The words of the specification, section 5. */
export const tamperedTokenWarning = "Invalid token signature. Check the token source, may be a tampered token.";

/**
 * In milliseconds: how often an unknown key id may cause the key set to be fetched again, and how
 * long that may take.
 */
export const jwksTimes = { cooldownMs: 10_000, timeoutMs: 5_000 } as const;

export interface TokenVerifierDeps {
  /** Where `GET /auth/token-certs` is. */
  readonly certsUrl: URL;
  /**
   * Makes that call. jose needs keys at first, when they are older than ten minutes, and when a
   * token names an unknown one: keys rotate.
   */
  readonly fetchCerts: (signal: AbortSignal) => Promise<TokenJwks>;
  /**
   * What `iss` and `aud` must be: the service and the portal's client, as the deployment document
   * names them.
   */
  readonly issuer: string;
  readonly audience: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly warn: (message: string) => void;
}

/**
 * Verifies session tokens: an EdDSA signature by a key of the service, of this service for this
 * portal, claims of the right shape, not expired. Null for an invalid token; rejects only when the
 * keys cannot be fetched.
 */
export function createTokenVerifier({
  certsUrl,
  fetchCerts,
  issuer,
  audience,
  now,
  warn,
}: TokenVerifierDeps): (token: string) => Promise<SessionClaims | null> {
  const keys = createRemoteJWKSet(certsUrl, {
    cooldownDuration: jwksTimes.cooldownMs,
    timeoutDuration: jwksTimes.timeoutMs,
    // By our client, which handles cookies, checks the schema of the answer, and throws a
    // PortalError.
    [customFetch]: async (_address, { signal }) => {
      try {
        return Response.json(await fetchCerts(signal));
      } catch (error) {
        throw signal.aborted ? new PortalError("service_unavailable", { cause: error }) : toPortalError(error);
      }
    },
  });

  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, keys, {
        algorithms: ["EdDSA"],
        issuer,
        audience,
        currentDate: new Date(now()),
        requiredClaims: ["exp", "iat", "sub"],
      });
      const claims = SessionClaims.safeParse(payload);
      return claims.success ? claims.data : null;
    } catch (error) {
      if (isPortalError(error)) throw error; // the keys could not be fetched
      if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey)
        warn(tamperedTokenWarning);
      return null; // expired, malformed or tampered with
    }
  };
}
