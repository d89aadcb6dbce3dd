import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

import { exportJWK, generateKeyPair, SignJWT, type GenerateKeyPairResult } from "jose";

export interface TestIssuer {
  readonly issuer: string;
  /**
   * An access token of the identity provider; `claims` replaces members, or omits those that are
   * undefined.
   */
  createAccessToken(subject: string, claims?: Readonly<Record<string, unknown>>, typ?: string): Promise<string>;
  /** As `createAccessToken`, signed by a key that is not published. */
  createForgedToken(subject: string): Promise<string>;
  /**
   * A logout token as Keycloak sends it for a session, or for all sessions of a person; `claims` as
   * in `createAccessToken`.
   */
  createLogoutToken(claims: Readonly<Record<string, unknown>>): Promise<string>;
  /** Value of `IDP_ADMIN`: Keycloak's interface to this issuer's people. */
  readonly adminSetting: string;
  /** Every call of that interface except for tokens. */
  readonly adminCalls: string[];
  /** Disabled, or removed with false; the next admin call answers so. */
  readonly people: Map<string, { readonly enabled: boolean } | "removed">;
  /** Makes the admin interface answer with this status; null restores it. */
  setAdminFailure(status: number | null): void;
  /** Sets its clock ahead, or back. */
  setClock(secondsAhead: number): void;
  stop(): Promise<void>;
}

/** A private Ed25519 key as in `SESSION_KEYS`. */
export async function createSessionKey(): Promise<Record<string, unknown>> {
  const { privateKey } = await generateKeyPair("EdDSA", { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: randomUUID() };
}

let keyPairsPromise: Promise<{
  readonly publishedKeyPair: GenerateKeyPairResult;
  readonly unpublishedKeyPair: GenerateKeyPairResult;
}> | null = null;

/** Shared by all issuers of a process, because generating them takes long. */
function getKeyPairs(): NonNullable<typeof keyPairsPromise> {
  keyPairsPromise ??= Promise.all([generateKeyPair("RS256", { extractable: true }), generateKeyPair("RS256")]).then(
    ([publishedKeyPair, unpublishedKeyPair]) => ({ publishedKeyPair, unpublishedKeyPair }),
  );
  return keyPairsPromise;
}

/** A minimal identity provider: discovery, RS256 keys, tokens. Uses real keys and a real server. */
export async function startIssuer({
  clientId = "relicario-portal",
  path = "/realms/relicario",
}: { clientId?: string; path?: string } = {}): Promise<TestIssuer> {
  const {
    publishedKeyPair: { publicKey, privateKey },
    unpublishedKeyPair,
  } = await getKeyPairs();
  const jwk = { ...(await exportJWK(publicKey)), kid: "test-1", alg: "RS256", use: "sig" };
  const basePath = path.replace(/\/$/, ""); // OpenID Connect Discovery 4.1
  let secondsAhead = 0;
  const getSeconds = (): number => Math.floor(Date.now() / 1_000) + secondsAhead;
  const adminCalls: string[] = [];
  const people: TestIssuer["people"] = new Map();
  let adminFailure: number | null = null;
  /** As Keycloak 26.7 answers. Everyone is enabled unless `people` says otherwise. */
  const answerAdminCall = (method: string, url: string): { status: number; body: unknown } | null => {
    if (!url.startsWith("/admin/") && url !== "/realms/relicario/protocol/openid-connect/token") return null;
    if (adminFailure !== null) return { status: adminFailure, body: {} };
    if (!url.startsWith("/admin/")) return { status: 200, body: { access_token: "of the service", expires_in: 300 } };
    adminCalls.push(`${method} ${url}`);
    const subject = /^\/admin\/realms\/relicario\/users\/([^/]+)$/.exec(url)?.[1];
    const person = subject === undefined ? "removed" : (people.get(decodeURIComponent(subject)) ?? { enabled: true });
    return person === "removed"
      ? { status: 404, body: { error: "User not found" } }
      : { status: 200, body: { id: subject, username: subject, ...person } };
  };
  const server = createServer((request, response) => {
    const adminAnswer = answerAdminCall(request.method ?? "", request.url ?? "");
    if (adminAnswer !== null) {
      response
        .writeHead(adminAnswer.status, { "content-type": "application/json" })
        .end(JSON.stringify(adminAnswer.body));
      return;
    }
    const bodiesByPath = new Map<string, unknown>([
      [`${basePath}/.well-known/openid-configuration`, { issuer, jwks_uri: `${origin}${basePath}/jwks` }],
      [`${basePath}/jwks`, { keys: [jwk] }],
    ]);
    const body = bodiesByPath.get(request.url ?? "");
    response
      .writeHead(body === undefined ? 404 : 200, {
        "content-type": "application/json",
        date: new Date(getSeconds() * 1_000).toUTCString(),
      })
      .end(JSON.stringify(body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const origin = `http://127.0.0.1:${String(address.port)}`;
  const issuer = `${origin}${path}`;

  const signClaims = (
    defaults: Readonly<Record<string, unknown>>,
    claims: Readonly<Record<string, unknown>>,
    key: typeof privateKey,
    typ: string,
  ): Promise<string> => {
    const payload = Object.fromEntries(
      Object.entries({ ...defaults, ...claims }).filter(([, value]) => value !== undefined),
    );
    return new SignJWT(payload).setProtectedHeader({ alg: "RS256", kid: "test-1", typ }).sign(key);
  };
  const signToken = (
    subject: string,
    claims: Readonly<Record<string, unknown>>,
    key: typeof privateKey,
    typ = "at+jwt",
  ): Promise<string> => {
    const now = getSeconds();
    const defaults = {
      iss: issuer,
      sub: subject,
      aud: "relicario-api",
      azp: clientId,
      iat: now,
      exp: now + 300,
      auth_time: now,
      preferred_username: subject,
    };
    return signClaims(defaults, claims, key, typ);
  };
  return {
    issuer,
    createAccessToken: (subject, claims = {}, typ) => signToken(subject, claims, privateKey, typ),
    createForgedToken: (subject) => signToken(subject, {}, unpublishedKeyPair.privateKey),
    createLogoutToken: (claims) => {
      const now = getSeconds();
      const defaults = {
        iss: issuer,
        aud: clientId,
        iat: now,
        exp: now + 120,
        jti: randomUUID(),
        typ: "Logout",
        events: { "http://schemas.openid.net/event/backchannel-logout": {} },
      };
      return signClaims(defaults, claims, privateKey, "logout+jwt");
    },
    adminSetting: JSON.stringify({
      kind: "keycloak",
      url: origin,
      realm: "relicario",
      client_id: "relicario-service",
      client_secret: "a secret of the client",
    }),
    adminCalls,
    people,
    setAdminFailure: (status) => {
      adminFailure = status;
    },
    setClock: (seconds) => {
      secondsAhead = seconds;
    },
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}
