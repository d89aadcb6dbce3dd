import { SessionClaims } from "@relicario/shared/api";
import { and, eq, sql, type SQL } from "drizzle-orm";
import { createLocalJWKSet, errors, importJWK, jwtVerify, SignJWT } from "jose";

import type { Db } from "../db/database.ts";
import { sessions } from "../db/schema.ts";
import type { SessionKey } from "../env/session-keys.ts";
import { Problem } from "../http/problem.ts";
import type { Vendors } from "../vendors/vendors.ts";
import { createActor, type Actor, type SessionOwner } from "./actor.ts";

interface NewSession extends SessionOwner {
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/**
 * The product's session token: a JWT (EdDSA) for an account and vendor, valid until its row is
 * revoked.
 */
export interface SessionTokens {
  /** For `GET /auth/token-certs`. */
  readonly publicKeys: readonly { kid: string; alg: "EdDSA"; kty: "OKP"; crv: "Ed25519"; x: string }[];
  sign(session: NewSession): Promise<string>;
  /**
   * May accept a session that another process revoked within the last {@link
   * sessionCacheMilliseconds}.
   *
   * @throws Problem `token_expired`, `token_invalid` (forged, altered, revoked), `vendor_disabled`.
   */
  verify(token: string): Promise<Actor>;
  /** Call after revoking sessions of this account: their next calls read the database. */
  invalidate(accountId: string): void;
}

/** Asks the provider at intervals whether the person of a session may still sign in. */
export interface PersonCheck {
  /** Selects sessions that are to be confirmed before their next call. */
  readonly isDue: SQL<boolean>;
  /**
   * @returns false when the provider has disabled the person, whose sessions are then revoked. True
   *   when it does not answer
   */
  confirm(accountId: string, sessionId: string): Promise<boolean>;
}

/**
 * How long the state of a session is cached, so that a revocation holds everywhere within a second.
 */
export const sessionCacheMilliseconds = 500;
/** Maximum of cached tokens, and of cached sessions, per process; the oldest are evicted. */
const maxCacheEntries = 10_000;

/** Whether a session is live, as read at `readAt` (milliseconds of the monotonic clock). */
interface CachedSession {
  readonly accountId: string;
  readonly readAt: number;
  readonly livePromise: Promise<boolean>;
}

const tokenType = "relicario-session+jwt";

export interface SessionTokenSettings {
  /** The current key first, then the next. */
  readonly keys: readonly SessionKey[];
  /** `iss`: this service's address in deployment documents. */
  readonly issuer: string;
  /** `aud`: the portal's client id at the identity provider. */
  readonly audience: string;
  /** Milliseconds of the monotonic clock; overridden in tests. */
  readonly monotonicNow?: () => number;
}

export function createSessionTokens(
  { keys, issuer, audience, monotonicNow = () => performance.now() }: SessionTokenSettings,
  db: Db,
  vendors: Vendors,
  personCheck: PersonCheck | null,
): SessionTokens {
  const [currentKey] = keys;
  if (currentKey === undefined) throw new Error("no session key");
  const publicKeys = keys.map(({ kid, kty, crv, x }) => ({ kid, alg: "EdDSA" as const, kty, crv, x }));
  const keySet = createLocalJWKSet({ keys: publicKeys });
  const signingKey = importJWK(currentKey, "EdDSA");
  const claimsCache = new Map<string, SessionClaims>();
  const sessionCache = new Map<string, CachedSession>();
  const sessionQuery = db
    .select({ revokedAt: sessions.revokedAt, isCheckDue: personCheck?.isDue ?? sql<boolean>`false` })
    .from(sessions)
    .where(and(eq(sessions.accountId, sql.placeholder("account")), eq(sessions.id, sql.placeholder("session"))))
    .prepare("session");

  return {
    publicKeys,
    async sign({ accountId, vendorId, sessionId, authTime, issuedAt, expiresAt }) {
      return new SignJWT({ vid: vendorId, sid: sessionId, ...(authTime === null ? {} : { auth_time: authTime }) })
        .setProtectedHeader({ alg: "EdDSA", kid: currentKey.kid, typ: tokenType })
        .setSubject(accountId)
        .setIssuer(issuer)
        .setAudience(audience)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(await signingKey);
    },
    async verify(token) {
      const claims = await readClaims(token);
      const vendor = vendors.find(claims.vid);
      if (vendor === null) throw new Problem("token_invalid");
      if (!vendor.enabled) throw new Problem("vendor_disabled");
      if (!(await isSessionLive(claims))) throw new Problem("token_invalid");
      const { sub: accountId, vid: vendorId, sid: sessionId, auth_time: authTime = null } = claims;
      return createActor({ accountId, vendorId, sessionId, authTime });
    },
    invalidate(accountId) {
      for (const [sessionId, cached] of sessionCache)
        if (cached.accountId === accountId) sessionCache.delete(sessionId);
    },
  };

  /** Verifies a token's signature once, its expiry at every call. */
  async function readClaims(token: string): Promise<SessionClaims> {
    const cached = claimsCache.get(token);
    if (cached !== undefined && cached.exp > Math.floor(Date.now() / 1_000)) return cached;
    claimsCache.delete(token);
    const claims = await verifyToken(token);
    addToCache(claimsCache, token, claims);
    return claims;
  }

  /** Concurrent calls share one query, and its result for {@link sessionCacheMilliseconds}. */
  function isSessionLive({ sub, sid }: SessionClaims): Promise<boolean> {
    const cached = sessionCache.get(sid);
    if (cached?.accountId === sub && monotonicNow() - cached.readAt < sessionCacheMilliseconds)
      return cached.livePromise;
    const readAt = monotonicNow();
    const livePromise = querySessionLive(sub, sid);
    const entry = { accountId: sub, readAt, livePromise };
    sessionCache.delete(sid);
    addToCache(sessionCache, sid, entry);
    const evict = (): void => {
      if (sessionCache.get(sid) === entry) sessionCache.delete(sid);
    };
    livePromise.then((stillLive) => {
      if (!stillLive) evict();
    }, evict);
    return livePromise;
  }

  async function querySessionLive(accountId: string, sessionId: string): Promise<boolean> {
    const [row] = await sessionQuery.execute({ account: accountId, session: sessionId });
    if (row?.revokedAt !== null) return false;
    return personCheck === null || !row.isCheckDue || personCheck.confirm(accountId, sessionId);
  }

  async function verifyToken(token: string): Promise<SessionClaims> {
    try {
      const { payload } = await jwtVerify(token, keySet, {
        algorithms: ["EdDSA"],
        typ: tokenType,
        issuer,
        audience,
        requiredClaims: ["sub", "vid", "sid", "iat", "exp"],
      });
      return SessionClaims.parse(payload);
    } catch (cause) {
      const code = cause instanceof errors.JWTExpired ? "token_expired" : "token_invalid";
      throw new Problem(code, { cause, headers: { "www-authenticate": 'Bearer error="invalid_token"' } });
    }
  }
}

function addToCache<V>(cache: Map<string, V>, key: string, value: V): void {
  const [oldestKey] = cache.size < maxCacheEntries ? [] : cache.keys();
  if (oldestKey !== undefined) cache.delete(oldestKey);
  cache.set(key, value);
}
