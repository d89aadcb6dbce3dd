import { SessionClaims, TokenJwks } from "@relicario/shared/api";
import { eq } from "drizzle-orm";
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";

import { accounts, identities, sessions } from "../db/schema.ts";
import { startIssuer } from "../testing/issuer.ts";
import { startService, type TestService } from "../testing/service.ts";
import { createSessionTokens, sessionCacheMilliseconds } from "./session-tokens.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const exchange = (token: string, vendorId = "relicario", extraMembers: Record<string, unknown> = {}) =>
  service.call("POST", `/auth/token?app_vendor_id=${vendorId}`, null, { body: { token, ...extraMembers } });

const secondsFromNow = (seconds: number): number => Math.floor(Date.now() / 1_000) + seconds;

describe("POST /auth/token", () => {
  it("gives a session token that the published keys verify and that names account, vendor and sign-in", async () => {
    const authTime = secondsFromNow(-100);
    const response = await exchange(await service.issuer.createAccessToken("ana", { auth_time: authTime }));
    expect(response.status).toBe(200);
    const token = String(response.body["token"]);

    const tokenCerts = TokenJwks.parse((await service.call("GET", "/auth/token-certs", null)).body);
    expect(tokenCerts.keys).toHaveLength(2);
    const { payload } = await jwtVerify(token, createLocalJWKSet({ keys: tokenCerts.keys }), { algorithms: ["EdDSA"] });
    const claims = SessionClaims.parse(payload);
    expect(claims).toMatchObject({
      iss: "http://localhost:3000/api",
      aud: "relicario-portal",
      vid: "relicario",
      auth_time: authTime,
    });
    expect(claims.exp - claims.iat).toBe(900);
    expect(decodeProtectedHeader(token).kid).toBe(tokenCerts.keys[0]?.kid);

    const [row] = await service.app.services.db.select().from(accounts).where(eq(accounts.id, claims.sub));
    expect(row).toMatchObject({ vendorId: "relicario", providerUsername: "ana", userName: "ana" });
  });

  it("finds the same account again, and updates the provider's user name", async () => {
    const firstPerson = await service.signIn("bea");
    const repeatedResponse = await exchange(
      await service.issuer.createAccessToken("bea", { preferred_username: "beatriz" }),
    );
    const me = await service.call("GET", "/user/me", String(repeatedResponse.body["token"]));
    expect(me.body).toMatchObject({ user_id: firstPerson.userId, username: "beatriz", user_name: "bea" });
  });

  it("creates one account for two concurrent first exchanges", async () => {
    const tokens = await Promise.all([1, 2, 3, 4].map(() => service.issuer.createAccessToken("twice")));
    const responses = await Promise.all(tokens.map((token) => exchange(token)));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const rows = await service.app.services.db.select().from(identities).where(eq(identities.subject, "twice"));
    expect(rows).toHaveLength(1);
    expect(
      await service.app.services.db.select().from(accounts).where(eq(accounts.providerUsername, "twice")),
    ).toHaveLength(1);
  });

  it("keeps the accounts of one person at two vendors apart", async () => {
    const relicarioUser = await service.signIn("carla");
    const secondVendorUser = await service.signIn("carla", "second");
    expect(secondVendorUser.userId).not.toBe(relicarioUser.userId);
  });

  it("chooses another user name when the provider's is taken or invalid", async () => {
    await service.signIn("dora");
    const sameNameResponse = await exchange(
      await service.issuer.createAccessToken("dora-2", { preferred_username: "DORA" }),
    );
    const emailNameResponse = await exchange(
      await service.issuer.createAccessToken("dora-3", { preferred_username: undefined, email: "d@example.org" }),
    );
    const markupNameResponse = await exchange(
      await service.issuer.createAccessToken("dora-4", { preferred_username: "josé" }),
    );
    const longNameResponse = await exchange(
      await service.issuer.createAccessToken("dora-5", { preferred_username: "a".repeat(40) }),
    );
    const names = await Promise.all(
      [sameNameResponse, emailNameResponse, markupNameResponse, longNameResponse].map(
        async ({ body }) => (await service.call("GET", "/user/me", String(body["token"]))).body["user_name"],
      ),
    );
    expect(names[0]).toMatch(/^DORA-[0-9a-f]{12}$/);
    for (const name of names.slice(1, 3)) expect(name).toMatch(/^user-[0-9a-f]{12}$/);
    expect(names[3]).toMatch(/^a{19}-[0-9a-f]{12}$/);
  });

  it("assigns no released name while it is reserved", async () => {
    const formerUser = await service.signIn("nora");
    await service.call("POST", "/user/me", formerUser.token, { body: { user_name: "nora-2" } });
    const nextResponse = await exchange(
      await service.issuer.createAccessToken("nora-x", { preferred_username: "nora" }),
    );
    expect((await service.call("GET", "/user/me", String(nextResponse.body["token"]))).body["user_name"]).toMatch(
      /^nora-[0-9a-f]{12}$/,
    );
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["expired", { exp: secondsFromNow(-60) }, "token_expired"],
    ["another issuer's", { iss: "http://127.0.0.1:1/realms/other" }, "token_invalid"],
    ["for another audience and client", { aud: "other-api", azp: "other-client" }, "token_invalid"],
    ["for another audience without a client", { aud: "other-api", azp: undefined }, "token_invalid"],
    ["another client's, though for this audience", { azp: "other-client" }, "token_invalid"],
    ["an ID token", { typ: "ID" }, "token_invalid"],
    ["without expiry", { exp: undefined }, "token_invalid"],
    ["without subject", { sub: undefined }, "token_invalid"],
    ["with a subject that no database keeps", { sub: "a\u0000b" }, "token_invalid"],
    ["not valid yet", { nbf: secondsFromNow(600) }, "token_invalid"],
  ])("refuses a token that is %s", async (_, claims, code) => {
    const response = await exchange(await service.issuer.createAccessToken("eva", claims));
    expect(response).toMatchObject({ status: 401, body: { code } });
  });

  it("accepts a token with only a matching audience, and a token with only a matching authorised party", async () => {
    expect((await exchange(await service.issuer.createAccessToken("fay", { azp: undefined }))).status).toBe(200);
    expect((await exchange(await service.issuer.createAccessToken("fay", { aud: "account" }))).status).toBe(200);
  });

  it.each<[string, Record<string, unknown>]>([
    ["with an audience mapper", { typ: "Bearer", aud: ["relicario-api", "account"] }],
    ["without one", { typ: "Bearer", aud: "account" }],
    ["of a person without roles", { typ: "Bearer", aud: undefined }],
  ])("accepts Keycloak's access token %s: its header says JWT, its payload Bearer", async (_, claims) => {
    expect((await exchange(await service.issuer.createAccessToken("kay", claims, "JWT"))).status).toBe(200);
  });

  it("accepts an unmarked access token for this audience (Auth0)", async () => {
    const claims = { aud: ["relicario-api", `${service.issuer.issuer}/userinfo`] };
    expect((await exchange(await service.issuer.createAccessToken("kay", claims, "JWT"))).status).toBe(200);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["for the client alone", { aud: "relicario-portal" }, "JWT"],
    ["for the client alone, without a party", { aud: ["relicario-portal"], azp: undefined }, "JWT"],
    ["for the client alone, though marked as an access token", { aud: "relicario-portal" }, "at+jwt"],
    ["for the client beside the audience, unmarked", { aud: ["relicario-portal", "relicario-api"] }, "JWT"],
    ["unmarked and without this audience", { aud: "account" }, "JWT"],
    ["Keycloak's ID token", { typ: "ID", aud: ["relicario-portal", "relicario-api"] }, "JWT"],
    ["Keycloak's refresh token", { typ: "Refresh" }, "JWT"],
    ["a logout token", { events: { "http://schemas.openid.net/event/backchannel-logout": {} } }, "logout+jwt"],
    ["another service's, for which this client asked", { aud: "other-api" }, "at+jwt"],
  ])("refuses a token that is not an access token for this service: %s", async (_, claims, typ) => {
    expect(await exchange(await service.issuer.createAccessToken("eva", claims, typ))).toMatchObject({
      status: 401,
      body: { code: "token_invalid" },
    });
  });

  it("accepts an issuer with a trailing slash only from tokens that have the slash too", async () => {
    const issuer = await startIssuer({ path: "/tenant/" });
    const separateService = await startService({ IDP_AUTHORITY: issuer.issuer });
    try {
      const exchangeHere = (token: string) =>
        separateService.call("POST", "/auth/token?app_vendor_id=relicario", null, { body: { token } });
      expect((await exchangeHere(await issuer.createAccessToken("ana"))).status).toBe(200);
      const foreignToken = await issuer.createAccessToken("ana", { iss: issuer.issuer.slice(0, -1) });
      expect(await exchangeHere(foreignToken)).toMatchObject({ status: 401, body: { code: "token_invalid" } });
    } finally {
      await separateService.stop();
      await issuer.stop();
    }
  });

  it("refuses a token that is forged, unsigned or malformed", async () => {
    const unsignedToken = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from('{"sub":"eva"}').toString("base64url")}.`;
    for (const token of [await service.issuer.createForgedToken("eva"), unsignedToken, "noise", "a.b.c"]) {
      expect(await exchange(token)).toMatchObject({ status: 401, body: { code: "token_invalid" } });
    }
  });

  it("answers 403 for a vendor that is unknown or disabled", async () => {
    const token = await service.issuer.createAccessToken("gina");
    expect(await exchange(token, "nobody")).toMatchObject({ status: 403, body: { code: "vendor_unknown" } });
    expect(await exchange(token, "closed")).toMatchObject({ status: 403, body: { code: "vendor_disabled" } });
  });

  it("refuses unknown members, an empty body and invalid JSON", async () => {
    const token = await service.issuer.createAccessToken("gina");
    expect(await exchange(token, "relicario", { more: 1 })).toMatchObject({
      status: 422,
      body: { code: "validation_error" },
    });
    expect(await service.call("POST", "/auth/token?app_vendor_id=relicario", null)).toMatchObject({ status: 422 });
    expect(await service.call("POST", "/auth/token", null, { body: { token } })).toMatchObject({ status: 422 });
    const brokenJson = { body: "{", headers: { "content-type": "application/json" } };
    expect(await service.call("POST", "/auth/token?app_vendor_id=relicario", null, brokenJson)).toMatchObject({
      status: 400,
      body: { code: "bad_request" },
    });
    const formBody = { body: "token=x", headers: { "content-type": "application/x-www-form-urlencoded" } };
    expect(await service.call("POST", "/auth/token?app_vendor_id=relicario", null, formBody)).toMatchObject({
      status: 415,
      body: { code: "unsupported_media_type" },
    });
  });

  it("limits calls per IP address, with Retry-After", async () => {
    const remoteAddress = "198.51.100.7";
    const exchangeNoise = () =>
      service.call("POST", "/auth/token?app_vendor_id=relicario", null, { body: { token: "noise" }, remoteAddress });
    const errorCodes: (string | undefined)[] = [];
    let lastResponse = await exchangeNoise();
    for (let count = 1; count < 605 && lastResponse.status === 401; count++) {
      errorCodes.push(lastResponse.body.code);
      lastResponse = await exchangeNoise();
    }
    expect(errorCodes.length).toBeGreaterThanOrEqual(300); // a window may have ended meanwhile
    expect(lastResponse).toMatchObject({ status: 429, body: { code: "too_many_requests" } });
    expect(Number(lastResponse.headers["retry-after"])).toBeGreaterThan(0);
    expect(
      await service.call("POST", "/auth/token?app_vendor_id=relicario", null, { body: { token: "noise" } }),
    ).toMatchObject({ status: 401 });
  });

  it("lets neither unverified tokens nor a single person use up the global limit", async () => {
    const now = new Date();
    const limitedService = await startService({ RATE_LIMITS: '{"sign_in_all":3,"exchange_person":2}' }, () => now);
    try {
      let host = 0;
      const exchangeFrom = async (token: string) => {
        const remoteAddress = `198.51.100.${String((host += 1))}`;
        return (
          await limitedService.call("POST", "/auth/token?app_vendor_id=relicario", null, {
            body: { token },
            remoteAddress,
          })
        ).status;
      };
      for (const token of [
        "noise",
        await limitedService.issuer.createForgedToken("ana"),
        await limitedService.issuer.createAccessToken("ana", { aud: "other-api" }),
      ]) {
        expect([await exchangeFrom(token), await exchangeFrom(token)]).toEqual([401, 401]);
      }
      const anaToken = await limitedService.issuer.createAccessToken("ana");
      expect([
        await exchangeFrom(anaToken),
        await exchangeFrom(anaToken),
        await exchangeFrom(anaToken),
        await exchangeFrom(anaToken),
      ]).toEqual([200, 200, 429, 429]);
      expect(await exchangeFrom(await limitedService.issuer.createAccessToken("bea"))).toBe(200);
      expect(await exchangeFrom(await limitedService.issuer.createAccessToken("carla"))).toBe(429);
    } finally {
      await limitedService.stop();
    }
  });

  it("answers 503 while the provider is unreachable, and recovers", async () => {
    const separateService = await startService({ IDP_AUTHORITY: "http://127.0.0.1:9/realms/relicario" });
    try {
      const response = await separateService.call("POST", "/auth/token?app_vendor_id=relicario", null, {
        body: { token: "a.b.c" },
      });
      expect(response).toMatchObject({ status: 503, body: { code: "service_unavailable" } });
      expect((await separateService.call("GET", "/auth/certs", null)).status).toBe(503);
    } finally {
      await separateService.stop();
    }
  });
});

describe("GET /auth/certs", () => {
  it("gives the keys of the trusted provider", async () => {
    const response = await service.call("GET", "/auth/certs", null);
    expect(response).toMatchObject({ status: 200, body: { keys: [{ kty: "RSA", kid: "test-1" }] } });
  });
});

describe("DELETE /auth/token", () => {
  it("revokes the session and every other one of the same sign-in, at once", async () => {
    const sid = "provider-session-1";
    const tokens: string[] = [];
    for (let count = 0; count < 2; count++) {
      const response = await exchange(await service.issuer.createAccessToken("hana", { sid }));
      tokens.push(String(response.body["token"]));
    }
    const [firstToken = "", secondToken = ""] = tokens;
    const otherSignIn = await service.signIn("hana");
    expect((await service.call("DELETE", "/auth/token", firstToken)).status).toBe(204);
    for (const token of [firstToken, secondToken]) {
      expect(await service.call("GET", "/user/me", token)).toMatchObject({
        status: 401,
        body: { code: "token_invalid" },
      });
    }
    expect((await service.call("GET", "/user/me", otherSignIn.token)).status).toBe(200);
    const rows = await service.app.services.db.select().from(sessions).where(eq(sessions.providerSessionId, sid));
    expect(rows.every(({ revokedAt }) => revokedAt !== null)).toBe(true);
  });

  it("refuses an access token from before the sign-out", async () => {
    const claims = { sid: "provider-session-2", iat: secondsFromNow(-30) };
    const oldToken = await service.issuer.createAccessToken("ines", claims);
    const response = await exchange(oldToken);
    await service.call("DELETE", "/auth/token", String(response.body["token"]));
    expect(await exchange(oldToken)).toMatchObject({ status: 401, body: { code: "token_invalid" } });
  });

  it("refuses every token of a revoked provider session until the person signs in there again", async () => {
    const claims = { sid: "provider-session-3", auth_time: secondsFromNow(-60) };
    const createToken = (changes: Readonly<Record<string, unknown>>) =>
      service.issuer.createAccessToken("ines", { ...claims, ...changes });
    const response = await exchange(await createToken({}));
    await service.call("DELETE", "/auth/token", String(response.body["token"]));
    for (const changes of [
      {},
      { iat: secondsFromNow(30) },
      { auth_time: undefined },
      { auth_time: secondsFromNow(-61) },
    ])
      expect(await exchange(await createToken(changes))).toMatchObject({
        status: 401,
        body: { code: "token_invalid" },
      });
    expect((await exchange(await createToken({ auth_time: secondsFromNow(-59) }))).status).toBe(200);
    expect((await exchange(await createToken({}))).status).toBe(401);
  });

  it("refuses an unknown sign-in that is more than a month old, since it may have been revoked", async () => {
    const monthAgo = -31 * 86_400;
    for (const [sid, authTime, status] of [
      ["forgotten", monthAgo, 401],
      ["kept", monthAgo + 2 * 86_400, 200],
      ["of-no-time", undefined, 200],
    ] as const) {
      const claims = { sid, auth_time: authTime === undefined ? undefined : secondsFromNow(authTime) };
      expect((await exchange(await service.issuer.createAccessToken("lola", claims))).status).toBe(status);
    }
  });

  it("refuses a token that was issued more than a minute in the future", async () => {
    for (const [claims, status] of [
      [{ iat: secondsFromNow(50) }, 200],
      [{ iat: secondsFromNow(70) }, 401],
    ] as const)
      expect((await exchange(await service.issuer.createAccessToken("julia", claims))).status).toBe(status);
  });
});

describe("token exchanges that overlap a sign-out", () => {
  it.each([
    ["of the same second", 0],
    ["of half a minute before", 30],
  ])("leave no session of that sign-in, in either order: tokens %s", async (_, age) => {
    const unexpectedStatuses: number[] = [];
    let endedCount = 0;
    for (let round = 0; round < 12; round++) {
      const name = `overlap-${String(age)}-${String(round)}`;
      const remoteAddress = `198.51.100.${String(100 + round)}`; // a single IP address would reach its limit
      const createAccessToken = () =>
        service.issuer.createAccessToken(name, { sid: `${name}-session`, iat: secondsFromNow(-age) });
      const exchange = (token: string) =>
        service.call("POST", "/auth/token?app_vendor_id=relicario", null, { body: { token }, remoteAddress });
      const first = String((await exchange(await createAccessToken())).body["token"]);
      const tokens = await Promise.all(Array.from({ length: 12 }, createAccessToken));
      const earlierExchanges = tokens.slice(0, 8).map((token) => exchange(token));
      await Promise.race(earlierExchanges); // one exchange has completed, the others overlap
      const signOut = service.call("DELETE", "/auth/token", first);
      const successes = (
        await Promise.all([...earlierExchanges, signOut, ...tokens.slice(8).map((token) => exchange(token))])
      ).filter(({ status }) => status === 200);
      for (const { body } of successes) {
        const { status } = await service.call("GET", "/user/me", String(body["token"]));
        if (status === 401) endedCount += 1;
        else unexpectedStatuses.push(status);
      }
    }
    expect(unexpectedStatuses).toEqual([]);
    expect(endedCount).toBeGreaterThanOrEqual(12);
  });
});

describe("a session known to two processes", () => {
  /** Verifies tokens as another process does, with a stopped clock. */
  const createOtherProcess = () => {
    const { db, env, vendors } = service.app.services;
    const clock = { now: 0 };
    const tokens = createSessionTokens(
      {
        keys: env.SESSION_KEYS.keys,
        issuer: "http://localhost:3000/api",
        audience: env.IDP_CLIENT_ID,
        monotonicNow: () => clock.now,
      },
      db,
      vendors,
      null,
    );
    return { tokens, clock };
  };

  it("is refused at once by the process that revokes the session, and within a second by the other process", async () => {
    const person = await service.signIn();
    const otherProcess = createOtherProcess();
    await otherProcess.tokens.verify(person.token);
    expect((await service.call("GET", "/user/me", person.token)).status).toBe(200);
    expect((await service.call("DELETE", "/auth/token", person.token)).status).toBe(204);
    expect(await service.call("GET", "/user/me", person.token)).toMatchObject({
      status: 401,
      body: { code: "token_invalid" },
    });
    otherProcess.clock.now = sessionCacheMilliseconds - 1;
    await expect(otherProcess.tokens.verify(person.token)).resolves.toMatchObject({ accountId: person.userId });
    otherProcess.clock.now = sessionCacheMilliseconds;
    await expect(otherProcess.tokens.verify(person.token)).rejects.toMatchObject({ code: "token_invalid" });
    expect(sessionCacheMilliseconds).toBeLessThan(1_000);
  });

  it("is read from the database again after a refusal", async () => {
    const person = await service.signIn();
    const { tokens } = createOtherProcess();
    const { db } = service.app.services;
    const setRevokedAt = (revokedAt: Date | null) =>
      db.update(sessions).set({ revokedAt }).where(eq(sessions.accountId, person.userId));
    await setRevokedAt(new Date());
    await expect(tokens.verify(person.token)).rejects.toMatchObject({ code: "token_invalid" });
    await setRevokedAt(null);
    await expect(tokens.verify(person.token)).resolves.toMatchObject({ accountId: person.userId });
  });

  it("ends with its token's expiry, even if it was verified just before", async () => {
    const person = await service.signIn();
    const { tokens } = createOtherProcess();
    await tokens.verify(person.token);
    const { exp = 0 } = decodeJwt(person.token);
    jest.useFakeTimers({
      now: exp * 1_000,
      doNotFake: [
        "nextTick",
        "queueMicrotask",
        "setImmediate",
        "setTimeout",
        "setInterval",
        "clearTimeout",
        "clearInterval",
        "clearImmediate",
        "performance",
        "hrtime",
      ],
    });
    try {
      await expect(tokens.verify(person.token)).rejects.toMatchObject({ code: "token_expired" });
    } finally {
      jest.useRealTimers();
    }
  });
});

describe("a session token", () => {
  it("is refused when altered, signed with another key, or of another type", async () => {
    const person = await service.signIn();
    const [encodedHeader = "", body = "", signature = ""] = person.token.split(".");
    const claims = JSON.parse(Buffer.from(body, "base64url").toString()) as Record<string, unknown>;
    const alteredPayload = Buffer.from(JSON.stringify({ ...claims, vid: "second" })).toString("base64url");
    for (const token of [
      `${encodedHeader}.${alteredPayload}.${signature}`,
      await service.issuer.createAccessToken("eva"),
      `${encodedHeader}.${body}.`,
    ]) {
      expect(await service.call("GET", "/user/me", token)).toMatchObject({
        status: 401,
        body: { code: "token_invalid" },
      });
    }
    expect(await service.call("GET", "/user/me", null)).toMatchObject({ status: 401, body: { code: "unauthorized" } });
  });

  it.each([
    ["another service with the same keys and rows", { issuer: "http://localhost:3002/api" }],
    ["another portal's client", { audience: "another-portal" }],
  ])("of %s is refused", async (_of, settingsOverride) => {
    const person = await service.signIn();
    const { db, env, vendors } = service.app.services;
    const { sub, vid, sid } = SessionClaims.parse(decodeJwt(person.token));
    const settings = { keys: env.SESSION_KEYS.keys, issuer: "http://localhost:3000/api", audience: env.IDP_CLIENT_ID };
    const session = {
      accountId: sub,
      vendorId: vid,
      sessionId: sid,
      authTime: null,
      issuedAt: new Date(),
      expiresAt: new Date(secondsFromNow(60) * 1_000),
    };
    const signSessionToken = (overrides: Partial<typeof settings>) =>
      createSessionTokens({ ...settings, ...overrides }, db, vendors, null).sign(session);
    expect((await service.call("GET", "/user/me", await signSessionToken({}))).status).toBe(200);
    expect(await service.call("GET", "/user/me", await signSessionToken(settingsOverride))).toMatchObject({
      status: 401,
      body: { code: "token_invalid" },
    });
  });
});
