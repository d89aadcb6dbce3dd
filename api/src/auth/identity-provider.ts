import { ContactEmail } from "@relicario/shared/api";
import {
  createRemoteJWKSet,
  customFetch,
  errors,
  jwtVerify,
  type JSONWebKeySet,
  type JWTHeaderParameters,
  type JWTVerifyOptions,
} from "jose";
import { z } from "zod";

import type { Env } from "../env/env.ts";
import type { ClockSkews } from "../http/clock-skew.ts";
import { Problem } from "../http/problem.ts";

/** Claims of the provider's access token. Times in seconds since 1970. */
const claimText = z
  .string()
  .min(1)
  .max(255)
  .regex(/^\P{C}+$/u); // no control characters: PostgreSQL refuses NUL
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
  email_verified: z.boolean().optional().catch(undefined),
});

/** OpenID Connect Back-Channel Logout 1.0, 2.4. `exp` is checked where there is one. */
const LogoutTokenClaims = z
  .looseObject({
    iss: z.string(),
    iat: z.int(),
    jti: claimText,
    sub: claimText.optional(),
    sid: claimText.optional(),
    events: z.looseObject({ "http://schemas.openid.net/event/backchannel-logout": z.looseObject({}) }),
    nonce: z.never().optional(),
  })
  .refine(({ sub, sid }) => sub !== undefined || sid !== undefined);

/** What ended at the provider: a session of it, else all sessions of the person. */
export interface ProviderLogout {
  readonly issuer: string;
  /** One of the two is set. */
  readonly subject: string | null;
  readonly providerSessionId: string | null;
  readonly at: ProviderTime;
}

/** A time in whole seconds since 1970. */
interface ProviderTime {
  readonly providerSeconds: number;
  /** The same moment by this machine's clock. */
  readonly localSeconds: number;
}

export interface VerifiedIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** When the person signed in, by the provider's clock; null if unknown. */
  readonly authTime: number | null;
  /** `authTime` by this machine's clock. */
  readonly authTimeHere: number | null;
  /** When the provider issued the token, and so knew the person, by this machine's clock. */
  readonly issuedAtHere: number;
  readonly providerSessionId: string | null;
  /** The provider's user name, else e-mail, else `sub`. */
  readonly providerUsername: string;
  /** The e-mail address, if the provider says that it is verified. */
  readonly verifiedEmail: string | null;
}

export interface IdentityProvider {
  /**
   * @throws Problem `token_invalid`, `token_expired`, or `service_unavailable` when the provider's
   *   keys cannot be fetched.
   */
  verify(accessToken: string): Promise<VerifiedIdentity>;
  /** Throws as `verify` does. A token may come again: its effect must not depend on that. */
  verifyLogout(logoutToken: string): Promise<ProviderLogout>;
  readKeySet(): Promise<JSONWebKeySet>;
  /** Fetches the provider's keys, at most every 10 seconds. @throws when it does not answer */
  check(): Promise<void>;
  /**
   * Seconds that its clock is ahead of this machine's, 0 within the tolerance. Asks for it once.
   *
   * @throws Problem `service_unavailable` when it is not known and the provider does not answer.
   */
  readSkew(): Promise<number>;
}

const algorithms = ["RS256", "PS256", "ES256", "EdDSA"];
const Discovery = z.looseObject({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });

/** Seconds by which a token may be issued in the future, and by which it may be expired. */
const toleranceSeconds = { future: 60, expiry: 5 } as const;
/** A logout token without `exp` is valid for this long. */
const maxLogoutAgeSeconds = 120;
/** How often the provider's keys are fetched at most. */
const keyCooldownMilliseconds = 10_000;

type IdentityProviderSettings = Pick<Env, "IDP_AUTHORITY" | "IDP_CLIENT_ID" | "IDP_AUDIENCE" | "IDP_JWKS_URL">;

/** Checks the times in tokens by the provider's clock, which is read from its responses. */
export function createIdentityProvider(
  settings: IdentityProviderSettings,
  skews: Pick<ClockSkews, "observe" | "get">,
): IdentityProvider {
  /** Ignores small differences: tokens and responses have whole seconds. */
  const getSkew = (): number => {
    const seconds = skews.get("identity_provider");
    return Math.abs(seconds) > toleranceSeconds.expiry ? seconds : 0;
  };
  const fetchWithClock: typeof fetch = async (...request) => {
    const sentAt = Date.now();
    const response = await fetch(...request);
    const { headers } = response;
    const respondedAt = Date.parse(headers.get("date") ?? "") + Number(headers.get("age") ?? 0) * 1_000;
    // `Date` omits the milliseconds
    if (!Number.isNaN(respondedAt))
      skews.observe("identity_provider", (respondedAt + 500 - (sentAt + Date.now()) / 2) / 1_000);
    return response;
  };
  let keySetPromise: Promise<ReturnType<typeof createRemoteJWKSet>> | null = null;

  /** Discovers once; a failure is not cached, so that a provider may start later. */
  function getKeySet(): Promise<ReturnType<typeof createRemoteJWKSet>> {
    keySetPromise ??= discoverJwksUrl(settings, fetchWithClock).then(
      (jwksUrl) =>
        createRemoteJWKSet(jwksUrl, {
          timeoutDuration: 5_000,
          cooldownDuration: keyCooldownMilliseconds,
          [customFetch]: fetchWithClock,
        }),
      (error: unknown) => {
        keySetPromise = null;
        throw error;
      },
    );
    return keySetPromise;
  }

  /**
   * Fetches the keys; their response also tells the provider's time. @returns whether the skew
   * changed
   */
  async function readClock(keySet: RemoteKeySet): Promise<boolean> {
    const skewBefore = getSkew();
    try {
      await keySet.reload();
    } catch (cause) {
      throw new Problem("service_unavailable", { cause });
    }
    return getSkew() !== skewBefore;
  }

  async function verifyByProviderClock<T extends { readonly iat: number }>(
    token: string,
    keySet: RemoteKeySet,
    kind: TokenKind<T>,
  ): Promise<VerifiedToken<T>> {
    if (keySet.jwks() === undefined) await readClock(keySet);
    const verify = (): Promise<VerifiedToken<T>> =>
      verifyToken(token, keySet, settings.IDP_AUTHORITY, Date.now() / 1_000 + getSkew(), kind);
    try {
      return await verify();
    } catch (error) {
      // The provider's clock may have been set since it was last read.
      const isAboutTime =
        error instanceof Problem && (error.code === "token_expired" || error.cause instanceof FutureTokenError);
      if (!isAboutTime || keySet.coolingDown || !(await readClock(keySet))) throw error;
      return verify();
    }
  }

  return {
    async verify(accessToken) {
      const keySet = await getKeySet();
      const { claims, header } = await verifyByProviderClock(accessToken, keySet, accessTokenKind);
      if (!isIntendedForService(claims, header, settings))
        throw new Problem("token_invalid", { detail: "the token is for another audience" });
      return {
        issuer: claims.iss,
        subject: claims.sub,
        authTime: claims.auth_time ?? null,
        authTimeHere: claims.auth_time === undefined ? null : claims.auth_time - getSkew(),
        issuedAtHere: claims.iat - getSkew(),
        providerSessionId: claims.sid ?? null,
        providerUsername: claims.preferred_username ?? claims.email ?? claims.sub,
        verifiedEmail: claims.email_verified === true ? (ContactEmail.safeParse(claims.email).data ?? null) : null,
      };
    },
    async verifyLogout(logoutToken) {
      const { claims } = await verifyByProviderClock(logoutToken, await getKeySet(), {
        ...logoutTokenKind,
        audience: settings.IDP_CLIENT_ID,
      });
      return {
        issuer: claims.iss,
        subject: claims.sub ?? null,
        providerSessionId: claims.sid ?? null,
        at: { providerSeconds: claims.iat, localSeconds: claims.iat - getSkew() },
      };
    },
    async readSkew() {
      const keySet = await getKeySet();
      if (keySet.jwks() === undefined) await readClock(keySet);
      return getSkew();
    },
    async check() {
      const keySet = await getKeySet();
      if (!keySet.coolingDown) await keySet.reload();
    },
    async readKeySet() {
      const keySet = await getKeySet();
      try {
        if (!keySet.coolingDown) await keySet.reload();
      } catch (cause) {
        if (keySet.jwks() === undefined) throw new Problem("service_unavailable", { cause });
      }
      return keySet.jwks() ?? { keys: [] };
    },
  };
}

type RemoteKeySet = ReturnType<typeof createRemoteJWKSet>;

interface TokenKind<T> {
  readonly claims: z.ZodType<T>;
  readonly verifyOptions: JWTVerifyOptions;
  readonly audience?: string;
}

const accessTokenKind: TokenKind<z.infer<typeof AccessTokenClaims>> = {
  claims: AccessTokenClaims,
  verifyOptions: { requiredClaims: ["exp", "iat", "sub"] },
};
const logoutTokenKind: TokenKind<z.infer<typeof LogoutTokenClaims>> = {
  claims: LogoutTokenClaims,
  verifyOptions: { maxTokenAge: maxLogoutAgeSeconds },
};

interface VerifiedToken<T> {
  readonly claims: T;
  readonly header: JWTHeaderParameters;
}

/** @param providerTime seconds */
async function verifyToken<T extends { readonly iat: number }>(
  token: string,
  keySet: RemoteKeySet,
  issuer: string,
  providerTime: number,
  kind: TokenKind<T>,
): Promise<VerifiedToken<T>> {
  try {
    const { payload, protectedHeader: header } = await jwtVerify(token, keySet, {
      ...kind.verifyOptions,
      ...(kind.audience === undefined ? {} : { audience: kind.audience }),
      issuer,
      algorithms,
      clockTolerance: toleranceSeconds.expiry,
      currentDate: new Date(providerTime * 1_000),
    });
    const claims = kind.claims.parse(payload);
    if (claims.iat > providerTime + toleranceSeconds.future) throw new FutureTokenError();
    return { claims, header };
  } catch (cause) {
    if (cause instanceof FutureTokenError)
      throw new Problem("token_invalid", { cause, detail: "the token is from the future" });
    if (cause instanceof errors.JWTExpired) throw new Problem("token_expired", { cause });
    if (isTokenFault(cause)) throw new Problem("token_invalid", { cause });
    throw new Problem("service_unavailable", { cause }); // the keys could not be fetched
  }
}

class FutureTokenError extends Error {
  override readonly name = "FutureTokenError";
}

/** Whether the token is at fault, rather than the network or the provider. */
function isTokenFault(cause: unknown): boolean {
  if (cause instanceof z.ZodError) return true;
  if (cause instanceof errors.JWKSTimeout || cause instanceof errors.JWKSInvalid) return false;
  // generic: the provider's status was not 200
  return cause instanceof errors.JOSEError && cause.code !== "ERR_JOSE_GENERIC";
}

/**
 * Accepts an access token whose audience is this service, or which was issued to this portal's
 * client.
 *
 * RFC 9068 marks access tokens in the header (`at+jwt`), Keycloak in the payload (`Bearer`, where
 * others are `ID` or `Refresh`). Without a mark the audience decides: that of an ID token names the
 * client. The authorized party (`azp`) suffices only when the audience names no other service,
 * which could pass the token on.
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

/** Default audience of Keycloak's access tokens: its account pages. */
const keycloakAccountAudience = "account";

async function discoverJwksUrl(
  { IDP_AUTHORITY, IDP_JWKS_URL }: IdentityProviderSettings,
  fetchDocument: typeof fetch,
): Promise<URL> {
  if (IDP_JWKS_URL !== undefined) return new URL(IDP_JWKS_URL);
  try {
    const base = IDP_AUTHORITY.replace(/\/$/, ""); // OpenID Connect Discovery 4.1
    const response = await fetchDocument(`${base}/.well-known/openid-configuration`, {
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
