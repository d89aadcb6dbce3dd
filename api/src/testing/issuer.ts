import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

import { exportJWK, generateKeyPair, SignJWT, type GenerateKeyPairResult } from "jose";

export interface TestIssuer {
  readonly issuer: string;
  /**
   * An access token as the identity provider would give it; members can be replaced, or taken out
   * with undefined.
   */
  accessToken(subject: string, claims?: Readonly<Record<string, unknown>>, typ?: string): Promise<string>;
  /** The same, signed by a key that is not published. */
  forgedToken(subject: string): Promise<string>;
  stop(): Promise<void>;
}

/** A private Ed25519 key as `SESSION_KEYS` has them. */
export async function createSessionKey(): Promise<Record<string, unknown>> {
  const { privateKey } = await generateKeyPair("EdDSA", { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: randomUUID() };
}

let keyPairsPromise: Promise<{ readonly own: GenerateKeyPairResult; readonly stranger: GenerateKeyPairResult }> | null =
  null;

/** For all providers of a process: making two takes as long as all else that a provider needs. */
function getKeyPairs(): NonNullable<typeof keyPairsPromise> {
  keyPairsPromise ??= Promise.all([generateKeyPair("RS256", { extractable: true }), generateKeyPair("RS256")]).then(
    ([own, stranger]) => ({ own, stranger }),
  );
  return keyPairsPromise;
}

/**
 * An identity provider as small as it can be: discovery, RS256 keys, tokens. Real keys, a real
 * server.
 */
export async function startIssuer({
  clientId = "relicario-portal",
  path = "/realms/relicario",
}: { clientId?: string; path?: string } = {}): Promise<TestIssuer> {
  const {
    own: { publicKey, privateKey },
    stranger,
  } = await getKeyPairs();
  const jwk = { ...(await exportJWK(publicKey)), kid: "test-1", alg: "RS256", use: "sig" };
  const basePath = path.replace(/\/$/, ""); // OpenID Connect Discovery 4.1
  const server = createServer((request, response) => {
    const bodiesByPath = new Map<string, unknown>([
      [`${basePath}/.well-known/openid-configuration`, { issuer, jwks_uri: `${origin}${basePath}/jwks` }],
      [`${basePath}/jwks`, { keys: [jwk] }],
    ]);
    const body = bodiesByPath.get(request.url ?? "");
    response
      .writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" })
      .end(JSON.stringify(body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const origin = `http://127.0.0.1:${String(address.port)}`;
  const issuer = `${origin}${path}`;

  const signToken = (
    subject: string,
    claims: Readonly<Record<string, unknown>>,
    key: typeof privateKey,
    typ = "at+jwt",
  ): Promise<string> => {
    const now = Math.floor(Date.now() / 1_000);
    const defaults: Record<string, unknown> = {
      iss: issuer,
      sub: subject,
      aud: "relicario-api",
      azp: clientId,
      iat: now,
      exp: now + 300,
      auth_time: now,
      preferred_username: subject,
    };
    const payload = Object.fromEntries(
      Object.entries({ ...defaults, ...claims }).filter(([, value]) => value !== undefined),
    );
    return new SignJWT(payload).setProtectedHeader({ alg: "RS256", kid: "test-1", typ }).sign(key);
  };
  return {
    issuer,
    accessToken: (subject, claims = {}, typ) => signToken(subject, claims, privateKey, typ),
    forgedToken: (subject) => signToken(subject, {}, stranger.privateKey),
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}
