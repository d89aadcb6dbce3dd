import { createRemoteJWKSet, errors, jwtVerify, type JSONWebKeySet, type JWTHeaderParameters } from "jose";
import { z } from "zod";

import type { Env } from "../env/env.ts";
import { Problem } from "../http/problem.ts";

/** What the service takes from the provider's access token. Times in seconds since 1970. */
const claimText = z
  .string()
  .min(1)
  .max(255)
  .regex(/^\P{C}+$/u); // no control characters: a database refuses some
const AccessTokenClaims = z.looseObject({
  sub: claimText,
  iss: z.string(),
  iat: z.int(),
  aud: z.union([z.string(), z.array(z.string())]).optional(),
  azp: z.string().optional(),
  typ: z.string().optional(),
  sid: claimText.optional(),
  auth_time: z.int().optional(),
  preferred_username: claimText.optional().catch(undefined),
  email: claimText.optional().catch(undefined),
});

export interface VerifiedIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly issuedAt: number;
  readonly authTime: number | null;
  readonly providerSession: string | null;
  /** The provider's name for the person. */
  readonly username: string;
}

export interface IdentityProvider {
  /**
   * @throws Problem `token_invalid`, `token_expired`, or `service_unavailable` when the provider's
   *   keys cannot be had.
   */
  verify(accessToken: string): Promise<VerifiedIdentity>;
  keys(): Promise<JSONWebKeySet>;
}

const algorithms = ["RS256", "PS256", "ES256", "EdDSA"];
const Discovery = z.looseObject({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });

type IdentityProviderSettings = Pick<Env, "IDP_AUTHORITY" | "IDP_CLIENT_ID" | "IDP_AUDIENCE" | "IDP_JWKS_URL">;

export function createIdentityProvider(settings: IdentityProviderSettings): IdentityProvider {
  let keySetPromise: Promise<ReturnType<typeof createRemoteJWKSet>> | null = null;

  /** Found once; a failure is forgotten, so that a provider that starts later is found later. */
  function getKeySet(): Promise<ReturnType<typeof createRemoteJWKSet>> {
    keySetPromise ??= discoverJwksUrl(settings).then(
      (jwksUrl) => createRemoteJWKSet(jwksUrl, { timeoutDuration: 5_000, cooldownDuration: 10_000 }),
      (error: unknown) => {
        keySetPromise = null;
        throw error;
      },
    );
    return keySetPromise;
  }

  return {
    async verify(accessToken) {
      const keySet = await getKeySet();
      const { claims, header } = await verifyToken(accessToken, keySet, settings.IDP_AUTHORITY);
      if (!isIntendedForService(claims, header, settings))
        throw new Problem("token_invalid", { detail: "the token is meant for somebody else" });
      return {
        issuer: claims.iss,
        subject: claims.sub,
        issuedAt: claims.iat,
        authTime: claims.auth_time ?? null,
        providerSession: claims.sid ?? null,
        username: claims.preferred_username ?? claims.email ?? claims.sub,
      };
    },
    async keys() {
      const keySet = await getKeySet();
      try {
        if (!keySet.fresh) await keySet.reload();
      } catch (cause) {
        if (keySet.jwks() === undefined) throw new Problem("service_unavailable", { cause });
      }
      return keySet.jwks() ?? { keys: [] };
    },
  };
}

async function verifyToken(
  token: string,
  keySet: ReturnType<typeof createRemoteJWKSet>,
  issuer: string,
): Promise<{ claims: z.infer<typeof AccessTokenClaims>; header: JWTHeaderParameters }> {
  try {
    const { payload, protectedHeader: header } = await jwtVerify(token, keySet, {
      issuer,
      algorithms,
      clockTolerance: 5,
      requiredClaims: ["exp", "iat", "sub"],
    });
    return { claims: AccessTokenClaims.parse(payload), header };
  } catch (cause) {
    if (cause instanceof errors.JWTExpired) throw new Problem("token_expired", { cause });
    if (isTokenFault(cause)) throw new Problem("token_invalid", { cause });
    throw new Problem("service_unavailable", { cause }); // the keys could not be had
  }
}

/** What the token itself is to blame for; all else is the network or the provider. */
function isTokenFault(cause: unknown): boolean {
  if (cause instanceof z.ZodError) return true;
  if (cause instanceof errors.JWKSTimeout || cause instanceof errors.JWKSInvalid) return false;
  // generic: the provider answered no 200
  return cause instanceof errors.JOSEError && cause.code !== "ERR_JOSE_GENERIC";
}

/**
 * An access token that names this service as its audience, or this portal's client as the party
 * that it was given to.
 *
 * What an access token is: RFC 9068 says it in the header (`at+jwt`), Keycloak in the payload
 * (`Bearer`; its others are `ID`, `Refresh` and more). Of providers that say neither, the audience
 * tells: that of an ID token names the client. The party alone is enough only where no other
 * service is named: such a token would be that service's to pass on.
 */
function isIntendedForService(
  { aud, azp, typ }: z.infer<typeof AccessTokenClaims>,
  header: JWTHeaderParameters,
  { IDP_AUDIENCE, IDP_CLIENT_ID }: IdentityProviderSettings,
): boolean {
  const headerType = header.typ?.toLowerCase().replace(/^application\//, "") ?? "jwt";
  if (!["jwt", "at+jwt"].includes(headerType)) return false;
  if (typ !== undefined && typ !== "Bearer") return false;
  if (azp !== undefined && azp !== IDP_CLIENT_ID) return false;
  const audience = aud === undefined ? [] : [aud].flat();
  const namesService = audience.includes(IDP_AUDIENCE);
  const isMarkedAccessToken = headerType === "at+jwt" || typ === "Bearer";
  if (!isMarkedAccessToken) return namesService && !audience.includes(IDP_CLIENT_ID);
  return namesService || (azp === IDP_CLIENT_ID && audience.every((value) => value === keycloakAccountAudience));
}

/**
 * Keycloak's account pages: the audience of its access tokens as long as nothing else is set up.
 */
const keycloakAccountAudience = "account";

async function discoverJwksUrl({ IDP_AUTHORITY, IDP_JWKS_URL }: IdentityProviderSettings): Promise<URL> {
  if (IDP_JWKS_URL !== undefined) return new URL(IDP_JWKS_URL);
  try {
    const base = IDP_AUTHORITY.replace(/\/$/, ""); // OpenID Connect Discovery 4.1
    const response = await fetch(`${base}/.well-known/openid-configuration`, {
      signal: AbortSignal.timeout(5_000),
      redirect: "error",
    });
    if (!response.ok) throw new Error(`discovery answered ${String(response.status)}`);
    const { issuer, jwks_uri } = Discovery.parse(await response.json());
    if (issuer !== IDP_AUTHORITY) throw new Error("discovery names another issuer");
    return new URL(jwks_uri);
  } catch (cause) {
    throw new Problem("service_unavailable", { cause });
  }
}
