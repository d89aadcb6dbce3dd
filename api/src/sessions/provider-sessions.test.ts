import { and, eq, sql, type SQL } from "drizzle-orm";
import { decodeJwt } from "jose";

import { buildApp, type App } from "../app.ts";
import { sessions } from "../db/schema.ts";
import { startService, type TestResponse, type TestService } from "../testing/service.ts";

// The issuer behaves as Keycloak 26.7; `npm run test:keycloak` runs the real one.
let service: TestService;
/** A second process on the same database. */
let otherProcess: App;
beforeAll(async () => {
  service = await startService({}, undefined, { checksPeople: true });
  otherProcess = await buildApp(service.app.services.env, { logStream: { write: () => undefined } });
});
afterAll(async () => {
  await otherProcess.stop();
  await service.stop();
});
beforeEach(() => {
  service.issuer.adminCalls.splice(0);
});

let subjectCount = 0;
const createSubject = (): string => `person-${String(subjectCount++)}`;
const getNowSeconds = (): number => Math.floor(Date.now() / 1_000);

/** When everyone signed in, unless a test says otherwise. */
const signedInAt = getNowSeconds() - 20;

interface SignInOptions {
  readonly subject: string;
  readonly sid?: string;
  readonly vendorId?: string;
  readonly claims?: Readonly<Record<string, unknown>>;
}
const exchange = async ({ subject, sid = "one", vendorId = "relicario", claims = {} }: SignInOptions) =>
  service.call("POST", `/auth/token?app_vendor_id=${vendorId}`, null, {
    body: {
      token: await service.issuer.createAccessToken(subject, {
        sid: `${subject}-${sid}`,
        auth_time: signedInAt,
        ...claims,
      }),
    },
  });
const signIn = async (options: SignInOptions): Promise<string> => String((await exchange(options)).body["token"]);
const callHere = async (token: string): Promise<number> => (await service.call("GET", "/user/me", token)).status;
const callOtherProcess = async (token: string): Promise<number> =>
  (
    await otherProcess.http.inject({
      method: "GET",
      url: "/user/me",
      headers: { authorization: `Bearer ${token}` },
    })
  ).statusCode;

const sendLogoutToken = (token: string): Promise<TestResponse> =>
  service.call("POST", "/auth/backchannel-logout", null, {
    body: new URLSearchParams({ logout_token: token }).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded" },
  });
const sendLogout = async (claims: Readonly<Record<string, unknown>>): Promise<TestResponse> =>
  sendLogoutToken(await service.issuer.createLogoutToken(claims));

describe("POST /auth/backchannel-logout", () => {
  it("ends the sessions of one provider session, in every process and at every vendor", async () => {
    const subject = createSubject();
    const ended = [await signIn({ subject }), await signIn({ subject, vendorId: "second" })];
    const otherSignIn = await signIn({ subject, sid: "two" });
    for (const token of ended) expect(await callOtherProcess(token)).toBe(200);
    expect(await sendLogout({ sub: subject, sid: `${subject}-one` })).toMatchObject({ status: 200, body: {} });
    for (const token of ended) {
      expect(await callHere(token)).toBe(401);
      while ((await callOtherProcess(token)) !== 401); // its cache lives half a second
    }
    expect(await callHere(otherSignIn)).toBe(200);
  });

  it.each([
    ["by the person alone", { sub: true }, [401, 401]],
    ["by the session alone", { sid: true }, [401, 200]],
  ])("ends sessions %s", async (_, named, expectedStatuses) => {
    const subject = createSubject();
    const tokens = [await signIn({ subject }), await signIn({ subject, sid: "two" })];
    const bystander = await signIn({ subject: createSubject() });
    expect(
      await sendLogout({
        sub: "sub" in named ? subject : undefined,
        sid: "sid" in named ? `${subject}-one` : undefined,
      }),
    ).toMatchObject({ status: 200 });
    expect(await Promise.all(tokens.map(callHere))).toEqual(expectedStatuses);
    expect(await callHere(bystander)).toBe(200);
  });

  it("keeps the provider's session closed, and records that it ended", async () => {
    const subject = createSubject();
    const otherSignIn = await signIn({ subject, sid: "two" });
    await signIn({ subject });
    await sendLogout({ sub: subject, sid: `${subject}-one` });
    expect(await exchange({ subject })).toMatchObject({ status: 401, body: { code: "token_invalid" } });
    expect((await service.call("GET", "/user/activity", otherSignIn)).text).toContain("session_ended");
  });

  it("ends nothing that began after it, so a token that comes again has no effect", async () => {
    const subject = createSubject();
    await signIn({ subject });
    const logoutToken = await service.issuer.createLogoutToken({ sub: subject, iat: getNowSeconds() - 10 });
    await sendLogoutToken(logoutToken);
    const laterSignIn = await signIn({ subject, sid: "two", claims: { auth_time: getNowSeconds() } });
    expect(await sendLogoutToken(logoutToken)).toMatchObject({ status: 200 });
    expect(await callHere(laterSignIn)).toBe(200);
  });

  it("answers as always for a person without an account", async () => {
    expect(await sendLogout({ sub: "someone else" })).toMatchObject({ status: 200, body: {} });
  });

  it.each([
    ["of another issuer", { iss: "http://127.0.0.1:1/realms/relicario" }],
    ["for another client", { aud: "another-portal" }],
    ["without the event", { events: undefined }],
    ["with another event", { events: { "http://schemas.openid.net/event/other": {} } }],
    ["with a nonce, as an ID token has", { nonce: "n" }],
    ["without an id", { jti: undefined }],
    ["without a time", { iat: undefined }],
    ["that has expired", { exp: getNowSeconds() - 60 }],
    ["that is old and has no expiry", { exp: undefined, iat: getNowSeconds() - 600 }],
    ["that names no one", { sub: undefined }],
  ])("refuses a token %s with 400, and ends nothing", async (_, claims) => {
    const subject = createSubject();
    const token = await signIn({ subject });
    expect(await sendLogout({ sub: subject, ...claims })).toMatchObject({
      status: 400,
      body: { code: "bad_request" },
    });
    expect(await callHere(token)).toBe(200);
  });

  it("refuses an access token, a forged token and other bodies", async () => {
    const subject = createSubject();
    const token = await signIn({ subject });
    expect((await sendLogoutToken(await service.issuer.createAccessToken(subject))).status).toBe(400);
    expect((await sendLogoutToken(await service.issuer.createForgedToken(subject))).status).toBe(400);
    const logoutToken = await service.issuer.createLogoutToken({ sub: subject });
    const sendAs = (body: unknown, type: string) =>
      service.call("POST", "/auth/backchannel-logout", null, { body, headers: { "content-type": type } });
    expect((await sendAs("x=1", "application/x-www-form-urlencoded")).status).toBe(422);
    expect((await sendAs(logoutToken, "text/plain")).status).toBe(422);
    expect(await callHere(token)).toBe(200);
  });

  it("limits refusals per address", async () => {
    const now = new Date();
    const limited = await startService({ RATE_LIMITS: JSON.stringify({ exchange: 2 }) }, () => now);
    try {
      const statuses: number[] = [];
      for (let call = 0; call < 3; call += 1)
        statuses.push(
          (
            await limited.call("POST", "/auth/backchannel-logout", null, {
              body: "logout_token=x",
              headers: { "content-type": "application/x-www-form-urlencoded" },
            })
          ).status,
        );
      expect(statuses).toEqual([400, 400, 429]);
    } finally {
      await limited.stop();
    }
  });
});

/** Selects the row of a session token. */
const whereSession = (token: string): SQL | undefined => {
  const { sub, sid } = decodeJwt(token);
  return and(eq(sessions.accountId, String(sub)), eq(sessions.id, String(sid)));
};

describe("a session whose person was last confirmed more than 45 s ago", () => {
  /** Moves the last check of a session back, as if time had passed. */
  const age = async (token: string, seconds: number): Promise<void> => {
    await service.app.services.db
      .update(sessions)
      .set({ personCheckedAt: sql`${sessions.personCheckedAt} - make_interval(secs => ${seconds})` })
      .where(whereSession(token));
    for (const app of [service.app, otherProcess]) app.services.sessionTokens.invalidate(String(decodeJwt(token).sub));
  };
  const checksOf = (subject: string): string[] =>
    service.issuer.adminCalls.filter((call) => call.endsWith(`/users/${subject}`));

  it("is checked once for calls at the same time in two processes, and again after 45 s", async () => {
    const subject = createSubject();
    const token = await signIn({ subject });
    await callHere(token);
    expect(checksOf(subject)).toHaveLength(0);
    for (const expectedChecks of [1, 2]) {
      await age(token, 46);
      expect(
        await Promise.all([callHere(token), callOtherProcess(token), callHere(token), callOtherProcess(token)]),
      ).toEqual([200, 200, 200, 200]);
      expect(checksOf(subject)).toHaveLength(expectedChecks);
      await age(token, 0);
      expect(await callHere(token)).toBe(200);
      expect(checksOf(subject)).toHaveLength(expectedChecks);
    }
  });

  it.each([
    ["has disabled the person", { enabled: false }],
    ["has removed the person", "removed"],
  ] as const)("is refused when the provider %s, with all sessions of the person", async (_, person) => {
    const subject = createSubject();
    const token = await signIn({ subject });
    const others = [await signIn({ subject, sid: "two" }), await signIn({ subject, vendorId: "second" })];
    service.issuer.people.set(subject, person);
    expect(await callHere(token)).toBe(200);
    await age(token, 46);
    expect(await Promise.all([callHere(token), callOtherProcess(token)])).toEqual([401, 401]);
    for (const other of others) {
      await age(other, 0);
      expect(await callOtherProcess(other)).toBe(401);
    }
    expect(await exchange({ subject })).toMatchObject({ status: 401, body: { code: "token_invalid" } });
  });

  it("begins with the age of the access token, which may have been issued before the person was disabled", async () => {
    const subject = createSubject();
    service.issuer.people.set(subject, { enabled: false });
    const token = await signIn({ subject, claims: { iat: getNowSeconds() - 60, auth_time: getNowSeconds() - 60 } });
    expect(await callHere(token)).toBe(401);
  });

  it("is allowed while the provider does not answer, which is logged once, and checked when it is back", async () => {
    let monotonicMilliseconds = performance.now() - 60_000; // so that the process asks again in later tests
    const clock = jest.spyOn(performance, "now").mockImplementation(() => monotonicMilliseconds);
    try {
      const subject = createSubject();
      const token = await signIn({ subject });
      const message = "the identity provider does not answer whether people are enabled";
      const countMessages = (): number => service.readLog().split(message).length - 1;
      service.issuer.people.set(subject, { enabled: false });
      service.issuer.setAdminFailure(503);
      await age(token, 46);
      expect([await callHere(token), await callHere(token)]).toEqual([200, 200]);
      monotonicMilliseconds += 11_000;
      await age(token, 46);
      expect(await callHere(token)).toBe(200);
      expect(countMessages()).toBe(1);
      service.issuer.setAdminFailure(null);
      monotonicMilliseconds += 11_000;
      await age(token, 16);
      expect(await callHere(token)).toBe(401);
      expect(service.readLog()).toContain("the identity provider answers again whether people are enabled");
    } finally {
      service.issuer.setAdminFailure(null);
      clock.mockRestore();
    }
  });

  it("waits for another process's check no longer than its claim", async () => {
    const subject = createSubject();
    const token = await signIn({ subject });
    await age(token, 46);
    await service.app.services.db
      .update(sessions)
      .set({ personCheckStartedAt: sql`now() - interval '6 seconds'` })
      .where(whereSession(token));
    expect(await callHere(token)).toBe(200);
    expect(checksOf(subject)).toHaveLength(1);
  });
});

it("lets a session live until its token expires when the provider's interface is not configured", async () => {
  const unchecked = await startService();
  try {
    const { token, subject } = await unchecked.signIn();
    unchecked.issuer.people.set(subject, "removed");
    await unchecked.app.services.db
      .update(sessions)
      .set({ personCheckedAt: sql`now() - interval '1 hour'` })
      .where(whereSession(token));
    expect((await unchecked.call("GET", "/user/me", token)).status).toBe(200);
    expect(unchecked.issuer.adminCalls).toEqual([]);
  } finally {
    await unchecked.stop();
  }
});
