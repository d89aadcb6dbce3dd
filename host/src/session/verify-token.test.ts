import { exportJWK, generateKeyPair, SignJWT, type CryptoKey } from "jose";

import type { TokenJwks } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { jwksTimes, createTokenVerifier, tamperedTokenWarning } from "./verify-token.ts";

const now = Date.parse("2026-11-21T10:00:00.000Z");
const claims = {
  sub: "01890a5d-ac96-7000-8000-000000000001",
  iss: "http://localhost:3000/api",
  aud: "relicario-portal",
  vid: "relicario",
  sid: "s",
  iat: now / 1000,
  exp: now / 1000 + 900,
};

interface TestKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly jwk: TokenJwks["keys"][number];
}

async function createKey(kid: string): Promise<TestKey> {
  const { publicKey, privateKey } = await generateKeyPair("EdDSA", { extractable: true });
  const { x } = await exportJWK(publicKey);
  return { kid, privateKey, jwk: { kid, alg: "EdDSA", kty: "OKP", crv: "Ed25519", x: x ?? "" } };
}

const sign = (key: TestKey, payload: Record<string, unknown> = claims) =>
  new SignJWT(payload).setProtectedHeader({ alg: "EdDSA", kid: key.kid }).sign(key.privateKey);

async function setUp() {
  const currentKey = await createKey("current");
  const nextKey = await createKey("next");
  const publishedKeys: TokenJwks["keys"] = [currentKey.jwk];
  const fetchJwks = jest.fn((_signal: AbortSignal) => Promise.resolve({ keys: [...publishedKeys] }));
  const warn = jest.fn();
  let time = now;
  const verify = createTokenVerifier({
    jwksUrl: new URL("http://localhost:3000/api/auth/token-certs"),
    fetchJwks,
    issuer: claims.iss,
    audience: claims.aud,
    now: () => time,
    warn,
  });
  return {
    current: currentKey,
    next: nextKey,
    published: publishedKeys,
    certs: fetchJwks,
    warn,
    verify,
    advance: (ms: number) => (time += ms),
  };
}

describe("createTokenVerifier", () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it("returns the claims of a token that the service signed", async () => {
    const { verify, current, warn } = await setUp();
    await expect(verify(await sign(current))).resolves.toMatchObject(claims);
    expect(warn).not.toHaveBeenCalled();
  });

  it("warns with the specification's wording when the signature is not the service's", async () => {
    const { verify, warn } = await setUp();
    await expect(verify(await sign(await createKey("current")))).resolves.toBeNull();
    expect(warn).toHaveBeenCalledWith("Invalid token signature. Check the token source, may be a tampered token.");
    expect(tamperedTokenWarning).toBe("Invalid token signature. Check the token source, may be a tampered token.");
  });

  it("refuses altered claims", async () => {
    const { verify, current, warn } = await setUp();
    const [head = "", , tail = ""] = (await sign(current)).split(".");
    const altered = Buffer.from(JSON.stringify({ ...claims, sub: "01890a5d-ac96-7000-8000-000000000002" })).toString(
      "base64url",
    );
    await expect(verify([head, altered, tail].join("."))).resolves.toBeNull();
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it.each([
    ["without an expiry", { ...claims, exp: undefined }],
    ["without a session", { ...claims, sid: undefined }],
    ["from another service that has the same keys", { ...claims, iss: "http://localhost:3002/api" }],
    ["without an issuer", { ...claims, iss: undefined }],
    ["for another portal", { ...claims, aud: "another-portal" }],
    ["without an audience", { ...claims, aud: undefined }],
    ["for something other than an account id", { ...claims, sub: "alba" }],
  ])("refuses a token that is %s, without a warning", async (_name, payload) => {
    const { verify, current, warn } = await setUp();
    await expect(verify(await sign(current, payload))).resolves.toBeNull();
    expect(warn).not.toHaveBeenCalled();
  });

  it("refuses a token signed with another algorithm, without fetching keys", async () => {
    const { verify, certs } = await setUp();
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: "HS256", kid: "current" })
      .sign(new Uint8Array(32));
    await expect(verify(token)).resolves.toBeNull();
    expect(certs).not.toHaveBeenCalled();
  });

  it("refuses a value that is not a token", async () => {
    const { verify } = await setUp();
    await expect(verify("nonsense")).resolves.toBeNull();
  });

  it("reports when an expired token was issued", async () => {
    const { verify, current, advance } = await setUp();
    const token = await sign(current);
    advance(901_000);
    await expect(verify(token)).rejects.toMatchObject({ code: "token_expired", details: { issuedAt: now } });
  });

  it("does not report an expired token that another key signed", async () => {
    const { verify, advance } = await setUp();
    const token = await sign(await createKey("current"));
    advance(901_000);
    await expect(verify(token)).resolves.toBeNull();
  });

  it("fetches the keys once, and again for a new key: rotation needs no reload", async () => {
    const { verify, current, next, certs, published } = await setUp();
    const startedAt = Date.now();
    await Promise.all([verify(await sign(current)), verify(await sign(current))]);
    await verify(await sign(current));
    expect(certs).toHaveBeenCalledTimes(1);
    published.push(next.jwk);
    jest.spyOn(Date, "now").mockReturnValue(startedAt + jwksTimes.cooldownMs + 1_000);
    await expect(verify(await sign(next))).resolves.toMatchObject(claims);
    expect(certs).toHaveBeenCalledTimes(2);
  });

  it("does not fetch repeatedly for an unpublished key", async () => {
    const { verify, certs, warn } = await setUp();
    const token = await sign(await createKey("made up"));
    await expect(verify(token)).resolves.toBeNull();
    await expect(verify(token)).resolves.toBeNull();
    expect(certs).toHaveBeenCalledTimes(1);
    expect(warn).toHaveBeenCalledWith(tamperedTokenWarning);
  });

  it.each([
    ["a PortalError", new PortalError("offline"), "offline"],
    ["any other error", new Error("down"), "unknown"],
  ])("rejects when the keys cannot be fetched, and fetches again the next time: %s", async (_name, error, code) => {
    const { verify, current, certs, warn } = await setUp();
    certs.mockRejectedValueOnce(error);
    const token = await sign(current);
    await expect(verify(token)).rejects.toMatchObject({ code });
    expect(warn).not.toHaveBeenCalled();
    await expect(verify(token)).resolves.toMatchObject(claims);
  });

  it("rejects when the keys do not arrive within 5 s", async () => {
    const timeoutController = new AbortController();
    const timeout = jest.spyOn(AbortSignal, "timeout").mockReturnValue(timeoutController.signal);
    const { verify, current, certs } = await setUp();
    certs.mockImplementation(
      (signal) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new PortalError("cancelled")))),
    );
    const verification = verify(await sign(current));
    while (certs.mock.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    timeoutController.abort();
    await expect(verification).rejects.toMatchObject({ code: "service_unavailable" });
    expect(timeout).toHaveBeenCalledWith(5_000);
  });
});
