import { SessionClaims } from "@relicario/shared/api";
import { and, eq } from "drizzle-orm";
import { createLocalJWKSet, errors, importJWK, jwtVerify, SignJWT } from "jose";

import type { Db } from "../db/database.ts";
import { sessions } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import type { Vendors } from "../vendors/vendors.ts";
import type { SessionKey } from "./session-keys.ts";

/** Who calls, once the session token was checked. Policies of the resources decide what that allows. */
export interface Actor {
  readonly accountId: string;
  readonly vendorId: string;
  readonly sessionId: string;
  /** Seconds; null when the provider does not say: then the sign-in counts as old. */
  readonly authTime: number | null;
}

export interface NewSession {
  readonly accountId: string;
  readonly vendorId: string;
  readonly sessionId: string;
  readonly authTime: number | null;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** The product's own session token: a JWT (EdDSA), bound to account and vendor, good only while its row is not revoked. */
export interface SessionTokens {
  /** For `GET /auth/token-certs`. */
  readonly publicKeys: readonly { kid: string; alg: "EdDSA"; kty: "OKP"; crv: "Ed25519"; x: string }[];
  sign(session: NewSession): Promise<string>;
  /**
   * @throws Problem `token_expired`, `token_invalid` (not ours, altered, revoked), `vendor_disabled`.
   */
  verify(token: string): Promise<Actor>;
}

const tokenType = "relicario-session+jwt";

export interface SessionTokenSettings {
  /** The current key first, then the next. */
  readonly keys: readonly SessionKey[];
  /** `iss`: this service, by the address that deployments call it by. */
  readonly issuer: string;
  /** `aud`: the portal, by its client id at the identity provider. */
  readonly audience: string;
}

export function createSessionTokens({ keys, issuer, audience }: SessionTokenSettings, db: Db, vendors: Vendors): SessionTokens {
  const [current] = keys;
  if (current === undefined) throw new Error("no session key");
  const publicKeys = keys.map(({ kid, kty, crv, x }) => ({ kid, alg: "EdDSA" as const, kty, crv, x }));
  const keySet = createLocalJWKSet({ keys: publicKeys });
  const signingKey = importJWK(current, "EdDSA");

  return {
    publicKeys,
    async sign({ accountId, vendorId, sessionId, authTime, issuedAt, expiresAt }) {
      return new SignJWT({ vid: vendorId, sid: sessionId, ...(authTime === null ? {} : { auth_time: authTime }) })
        .setProtectedHeader({ alg: "EdDSA", kid: current.kid, typ: tokenType })
        .setSubject(accountId)
        .setIssuer(issuer)
        .setAudience(audience)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(await signingKey);
    },
    async verify(token) {
      const claims = await verified(token);
      const vendor = vendors.find(claims.vid);
      if (vendor === null) throw new Problem("token_invalid");
      if (!vendor.enabled) throw new Problem("vendor_disabled");
      const [row] = await db
        .select({ revokedAt: sessions.revokedAt })
        .from(sessions)
        .where(and(eq(sessions.accountId, claims.sub), eq(sessions.id, claims.sid)));
      if (row?.revokedAt !== null) throw new Problem("token_invalid");
      return { accountId: claims.sub, vendorId: claims.vid, sessionId: claims.sid, authTime: claims.auth_time ?? null };
    },
  };

  async function verified(token: string): Promise<SessionClaims> {
    try {
      const { payload } = await jwtVerify(token, keySet, { algorithms: ["EdDSA"], typ: tokenType, issuer, audience, requiredClaims: ["sub", "vid", "sid", "iat", "exp"] });
      return SessionClaims.parse(payload);
    } catch (cause) {
      const code = cause instanceof errors.JWTExpired ? "token_expired" : "token_invalid";
      throw new Problem(code, { cause, headers: { "www-authenticate": 'Bearer error="invalid_token"' } });
    }
  }
}
