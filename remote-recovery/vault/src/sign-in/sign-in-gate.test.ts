import { createHash } from "node:crypto";

import { PortalError } from "@relicario/shared/errors";
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey as JoseKey, type JWTPayload } from "jose";

import { createSignInGate } from "./sign-in-gate.ts";

const authority = "https://id.example/realms/r";
const endpoint = (name: string): string => `${authority}/${name}`;
const now = (): number => Math.floor(Date.now() / 1000);

interface Provider {
  /** Claims of the ID token that differ. */
  readonly claims?: JWTPayload;
  readonly signingKey?: JoseKey;
  /** Query of the answer that differs. */
  readonly answer?: Readonly<Record<string, string>>;
  readonly openWindow?: () => Promise<string>;
}

describe("the sign-in gate", () => {
  let keyPair: { privateKey: JoseKey; publicKey: JoseKey };
  let otherKey: JoseKey;
  beforeAll(async () => {
    keyPair = await generateKeyPair("RS256");
    otherKey = (await generateKeyPair("RS256")).privateKey;
  });

  /** A provider at which Ana signs in as soon as the window opens. */
  function signIn({ claims = {}, signingKey, answer = {}, openWindow }: Provider = {}, maxAge = 120, isSilent = false) {
    let request = new URLSearchParams();
    const log: Record<string, string | null> = {};
    const respond = async (address: string, init?: RequestInit): Promise<Response> => {
      if (address === `${authority}/.well-known/openid-configuration`)
        return Response.json({
          issuer: authority,
          authorization_endpoint: endpoint("auth"),
          token_endpoint: endpoint("token"),
          jwks_uri: endpoint("certs"),
        });
      if (address === endpoint("certs"))
        return Response.json({ keys: [{ ...(await exportJWK(keyPair.publicKey)), alg: "RS256", kid: "1" }] });
      if (address !== endpoint("token")) throw new TypeError(`no call of ${address} was expected`);
      const form = init?.body as URLSearchParams;
      const challenge = createHash("sha256")
        .update(form.get("code_verifier") ?? "")
        .digest("base64url");
      if (form.get("code") !== "one-time" || challenge !== request.get("code_challenge"))
        return Response.json({ error: "invalid_grant" }, { status: 400 });
      const idToken = await new SignJWT({ nonce: request.get("nonce"), auth_time: now(), azp: "portal", ...claims })
        .setProtectedHeader({ alg: "RS256", kid: "1" })
        .setIssuer(claims.iss ?? authority)
        .setAudience(claims.aud ?? "portal")
        .setSubject(claims.sub ?? "ana")
        .setIssuedAt()
        .setExpirationTime(claims.exp ?? "5 minutes")
        .sign(signingKey ?? keyPair.privateKey);
      return Response.json({ access_token: "unused", id_token: idToken });
    };
    const open = (address: string): Promise<string> => {
      request = new URL(address).searchParams;
      for (const name of ["max_age", "redirect_uri", "prompt"]) log[name] = request.get(name);
      return Promise.resolve(
        new URLSearchParams({ state: request.get("state") ?? "", code: "one-time", ...answer }).toString(),
      );
    };
    const gate = createSignInGate({
      identity: { authority, clientId: "portal" },
      redirectUri: "https://vault.example/signed-in",
      openWindow: (address) => (openWindow === undefined ? open(address) : openWindow()),
      openFrame: open,
      fetch: respond,
    });
    return { result: isSilent ? gate.trySilently("ana", maxAge) : gate.ask("ana", maxAge), log };
  }

  it("returns the time of a sign-in that it asked for", async () => {
    const { result, log } = signIn({ claims: { auth_time: 1_700_000_000 } });
    await expect(result).resolves.toEqual({ authTime: 1_700_000_000 });
    expect(log).toEqual({
      max_age: "120",
      redirect_uri: "https://vault.example/signed-in",
      prompt: null,
    });
  });

  it("asks nothing in a frame, whose sign-in it checks in the same way", async () => {
    const { result, log } = signIn({ claims: { auth_time: 1_700_000_000 } }, 120, true);
    await expect(result).resolves.toEqual({ authTime: 1_700_000_000 });
    expect(log["prompt"]).toBe("none");
    await expect(signIn({ claims: { sub: "ben" } }, 120, true).result).rejects.toMatchObject({
      code: "login_required",
    });
  });

  it("asks for no older sign-in than one of now when the clock was set back", async () => {
    const { result, log } = signIn({}, -3_600);
    await result;
    expect(log["max_age"]).toBe("0");
  });

  it.each<[string, Provider | (() => Provider), string]>([
    ["another nonce", { claims: { nonce: "of another sign-in" } }, "login_failed"],
    ["another audience", { claims: { aud: "another client" } }, "login_failed"],
    ["another authorized party", { claims: { azp: "another client" } }, "login_failed"],
    ["another issuer", { claims: { iss: "https://else.example" } }, "login_failed"],
    ["another person", { claims: { sub: "ben" } }, "login_required"],
    ["another key's signature", () => ({ signingKey: otherKey }), "login_failed"],
    ["no time of the sign-in", { claims: { auth_time: undefined } }, "login_failed"],
    ["a token older than a day", { claims: { exp: now() - 90_000 } }, "login_failed"],
    ["another state", { answer: { state: "another" } }, "login_failed"],
    ["another provider's answer", { answer: { iss: "https://else.example" } }, "login_failed"],
    ["a code of another sign-in", { answer: { code: "stolen" } }, "login_failed"],
  ])("refuses %s", async (_case, provider, code) => {
    const { result } = signIn(typeof provider === "function" ? provider() : provider);
    await expect(result).rejects.toMatchObject({ code });
  });

  it.each(["popup_blocked", "cancelled", "timed_out"] as const)("fails as its window does: %s", async (code) => {
    const { result } = signIn({ openWindow: () => Promise.reject(new PortalError(code)) });
    await expect(result).rejects.toMatchObject({ code });
  });
});
