import { SessionClaims, type TokenJwks } from "@relicario/shared/api";
import { isPortalError, PortalError, toPortalError } from "@relicario/shared/errors";
import { createRemoteJWKSet, customFetch, errors, jwtVerify } from "jose";

/** Wording of the specification, section 5. */
export const tamperedTokenWarning = "Invalid token signature. Check the token source, may be a tampered token.";

/**
 * Minimum interval in milliseconds of fetches that unknown key ids cause, and time limit of a
 * fetch.
 */
export const jwksTimes = { cooldownMs: 10_000, timeoutMs: 5_000 } as const;

export interface TokenVerifierDeps {
  /** URL of `GET /auth/token-certs`. */
  readonly jwksUrl: URL;
  /**
   * Makes that call. jose calls it at first, when the keys are older than ten minutes, and when a
   * token names an unknown key, because keys rotate.
   */
  readonly fetchJwks: (signal: AbortSignal) => Promise<TokenJwks>;
  /**
   * Required `iss` and `aud`: the service and the portal's client, from the deployment document.
   */
  readonly issuer: string;
  readonly audience: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly warn: (message: string) => void;
}

/**
 * Creates a function that verifies a session token: signed (EdDSA) by a key of this service, issued
 * for this portal, with valid claims, not expired. It returns null for an invalid token.
 *
 * It rejects when the keys cannot be fetched. It rejects with `token_expired` for an expired token
 * that this service signed (details: `issuedAt`, in milliseconds since 1970).
 */
export function createTokenVerifier({
  jwksUrl,
  fetchJwks,
  issuer,
  audience,
  now,
  warn,
}: TokenVerifierDeps): (token: string) => Promise<SessionClaims | null> {
  const getKey = createRemoteJWKSet(jwksUrl, {
    cooldownDuration: jwksTimes.cooldownMs,
    timeoutDuration: jwksTimes.timeoutMs,
    // Uses the portal's HTTP client, which handles cookies, parses the response, and throws a
    // PortalError.
    [customFetch]: async (_address, { signal }) => {
      try {
        return Response.json(await fetchJwks(signal));
      } catch (error) {
        throw signal.aborted ? new PortalError("service_unavailable", { cause: error }) : toPortalError(error);
      }
    },
  });

  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, getKey, {
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
      if (error instanceof errors.JWTExpired)
        throw new PortalError("token_expired", { details: { issuedAt: (error.payload.iat ?? 0) * 1000 } });
      if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey)
        warn(tamperedTokenWarning);
      return null; // malformed or tampered with
    }
  };
}
