import { ActivityResponse, OwnSessions, type OwnSession } from "@relicario/shared/api";
import { eq } from "drizzle-orm";

import { accounts } from "../db/schema.ts";
import { readMails } from "../testing/outbox.ts";
import { startService, type TestService } from "../testing/service.ts";
import { parseDevice, shortenAddress } from "./caller.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const iphone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";

interface SignInOptions {
  readonly sid?: string | null;
  readonly authTime?: number | null;
  readonly userAgent?: string;
  readonly address?: string;
}

let subjectCount = 0;
const createSubject = (): string => `somebody-${String(subjectCount++)}`;
const getNowSeconds = () => Math.floor(Date.now() / 1_000);

/** A token exchange by a browser at an address. */
async function exchange(
  subject: string,
  { sid = "one", authTime = getNowSeconds(), userAgent = firefox, address = "192.0.2.17" }: SignInOptions = {},
) {
  const token = await service.issuer.createAccessToken(subject, {
    ...(sid === null ? {} : { sid }),
    auth_time: authTime ?? undefined,
    iat: Math.max(getNowSeconds(), authTime ?? 0),
  });
  return service.call("POST", "/auth/token?app_vendor_id=relicario", null, {
    body: { token },
    headers: { "user-agent": userAgent, "accept-language": "en" },
    remoteAddress: address,
  });
}
const signIn = async (subject: string, signInOptions?: SignInOptions): Promise<string> =>
  String((await exchange(subject, signInOptions)).body["token"]);
const readSessions = async (token: string): Promise<OwnSession[]> =>
  OwnSessions.parse((await service.call("GET", "/user/sessions", token)).body).sessions;
const readActivityKinds = async (token: string): Promise<string[]> =>
  ActivityResponse.parse((await service.call("GET", "/user/activity", token)).body).entries.map(({ kind }) => kind);
const isAccepted = async (token: string): Promise<boolean> =>
  (await service.call("GET", "/user/me", token)).status === 200;

describe("GET /user/sessions", () => {
  it("lists each sign-in once, with any number of sessions, the caller's first", async () => {
    const subject = createSubject();
    const authTime = getNowSeconds() - 3_600;
    await signIn(subject, { sid: "one", authTime });
    const ownToken = await signIn(subject, { sid: "one", authTime });
    await signIn(subject, { sid: "two", userAgent: iphone, address: "2001:db8:1:2:3:4:5:6" });
    const listedSessions = await readSessions(ownToken);
    expect(listedSessions.map(({ current, device, address }) => ({ current, device, address }))).toEqual([
      { current: true, device: "Firefox, Linux", address: "192.0.2.x" },
      { current: false, device: "Safari, iPhone", address: "2001:db8:1:x" },
    ]);
    expect(listedSessions[0]?.signed_in_at).toBe(new Date(authTime * 1_000).toISOString());
  });

  it("shows no sign-in of another account", async () => {
    await signIn(createSubject(), { sid: "shared name of a session" });
    const ownToken = await signIn(createSubject(), { sid: "shared name of a session" });
    expect(await readSessions(ownToken)).toHaveLength(1);
  });

  it("omits sign-ins that were signed out", async () => {
    const subject = createSubject();
    const [firstToken, secondToken] = [await signIn(subject, { sid: "one" }), await signIn(subject, { sid: "two" })];
    await service.call("DELETE", "/auth/token", secondToken);
    expect((await readSessions(firstToken)).map(({ current }) => current)).toEqual([true]);
  });
});

describe("DELETE /user/sessions/{id}", () => {
  /** A person with this browser, and another one that signed in before. */
  async function createTwoSignIns() {
    const subject = createSubject();
    const authTime = getNowSeconds() - 60;
    const otherTokens = [
      await signIn(subject, { sid: "other", authTime, userAgent: iphone }),
      await signIn(subject, { sid: "other", authTime, userAgent: iphone }),
    ];
    const ownToken = await signIn(subject, { sid: "own", authTime });
    const otherSession = (await readSessions(ownToken)).find(({ current }) => !current);
    if (otherSession === undefined) throw new Error("the other one is not listed");
    return { subject, authTime, ownToken, otherTokens, id: otherSession.id };
  }

  it("refuses the next call of every session of the ended sign-in, and of no other sign-in", async () => {
    const { ownToken, otherTokens, id } = await createTwoSignIns();
    expect((await service.call("DELETE", `/user/sessions/${id}`, ownToken)).status).toBe(204);
    expect(await Promise.all(otherTokens.map(isAccepted))).toEqual([false, false]);
    expect(await isAccepted(ownToken)).toBe(true);
    expect(await readSessions(ownToken)).toHaveLength(1);
    expect(await readActivityKinds(ownToken)).toContain("session_ended");
  });

  it("accepts the provider's session again only after a new sign-in there, whatever tokens it obtains", async () => {
    const { subject, authTime, ownToken, id } = await createTwoSignIns();
    await service.call("DELETE", `/user/sessions/${id}`, ownToken);
    expect(await exchange(subject, { sid: "other", authTime, userAgent: iphone })).toMatchObject({
      status: 401,
      body: { code: "token_invalid" },
    });
    expect(await exchange(subject, { sid: "other", authTime: null, userAgent: iphone })).toMatchObject({ status: 401 });
    expect((await exchange(subject, { sid: "other", authTime: getNowSeconds() + 2, userAgent: iphone })).status).toBe(
      200,
    );
    expect((await exchange(subject, { sid: "other", authTime, userAgent: iphone })).status).toBe(401);
  });

  it("answers 404 for another account's, an ended and an unknown sign-in", async () => {
    const { ownToken, id } = await createTwoSignIns();
    const stranger = await signIn(createSubject());
    expect((await service.call("DELETE", `/user/sessions/${id}`, stranger)).status).toBe(404);
    await service.call("DELETE", `/user/sessions/${id}`, ownToken);
    expect((await service.call("DELETE", `/user/sessions/${id}`, ownToken)).status).toBe(404);
  });

  it("revokes all other sign-ins at once", async () => {
    const { subject, ownToken, otherTokens } = await createTwoSignIns();
    const thirdToken = await signIn(subject, { sid: null });
    expect((await service.call("DELETE", "/user/sessions", ownToken)).status).toBe(204);
    expect(await Promise.all([...otherTokens, thirdToken, ownToken].map(isAccepted))).toEqual([
      false,
      false,
      false,
      true,
    ]);
    expect((await readActivityKinds(ownToken)).filter((kind) => kind === "session_ended")).toHaveLength(2);
  });

  it("revokes all other sign-ins of a caller without a provider session", async () => {
    const subject = createSubject();
    const [ownToken, otherToken] = [await signIn(subject, { sid: null }), await signIn(subject, { sid: null })];
    await service.call("DELETE", "/user/sessions", ownToken);
    expect([await isAccepted(ownToken), await isAccepted(otherToken)]).toEqual([true, false]);
  });
});

describe("a sign-in", () => {
  /** Reads mails with this subject to an address of this account. */
  const watchMails = async (token: string, subject: string) => {
    const { user_id: id } = (await service.call("GET", "/user/me", token)).body;
    const address = `${subject}@example.org`;
    await service.app.services.db
      .update(accounts)
      .set({ contactEmail: address, contactEmailVerified: true })
      .where(eq(accounts.id, String(id)));
    return async () =>
      (await readMails(service)).filter(
        (mail) => mail.to === address && mail.subject === "New sign-in to your Relicario account",
      );
  };

  it("is recorded once, not with each exchange", async () => {
    const subject = createSubject();
    await signIn(subject, { sid: "one" });
    const ownToken = await signIn(subject, { sid: "one" });
    expect(await readActivityKinds(ownToken)).toEqual(["signed_in"]);
  });

  it("with an unknown browser causes a mail; an account's first browser and known browsers cause no mail", async () => {
    const subject = createSubject();
    const mails = await watchMails(await signIn(subject, { sid: "one" }), subject);
    await signIn(subject, { sid: "two" });
    expect(await mails()).toEqual([]);
    await signIn(subject, { sid: "three", userAgent: iphone });
    await signIn(subject, { sid: "four", address: "198.51.100.2" });
    expect(await mails()).toHaveLength(2);
    expect((await mails())[0]?.source).not.toMatch(/List-Unsubscribe/); // a security mail
  });

  it("stores no user agent and no full address", async () => {
    const plantedUserAgent = "planted-in-the-user-agent Firefox/1";
    const ownToken = await signIn(createSubject(), { userAgent: plantedUserAgent, address: "203.0.113.77" });
    const responses = [
      (await service.call("GET", "/user/sessions", ownToken)).text,
      (await service.call("GET", "/user/activity", ownToken)).text,
    ];
    for (const text of responses) expect(text).not.toMatch(/planted|113\.77/);
  });
});

it.each([
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
    "Edge, Windows",
  ],
  [
    "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
    "Chrome, Android",
  ],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15",
    "Safari, macOS",
  ],
  ["curl/8.0", null],
  ["", null],
])("names the browser of %s", (agent, expected) => {
  expect(parseDevice(agent)).toBe(expected);
});

it.each([
  ["192.0.2.17", "192.0.2.x"],
  ["::ffff:192.0.2.17", "192.0.2.x"],
  ["2001:db8::1", "2001:db8:0:x"],
  ["no address", null],
])("shortens the address %s", (address, expected) => {
  expect(shortenAddress(address)).toBe(expected);
});
