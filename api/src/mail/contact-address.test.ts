import { readMails } from "../testing/outbox.ts";
import { startService, type TestService } from "../testing/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService({ IDP_EMAIL: "adopt" });
});
afterAll(() => service.stop());

let subjectCount = 0;
const createSubject = (): string => `addressed-${String(subjectCount++)}`;

interface AddressClaims {
  readonly email?: unknown;
  readonly email_verified?: unknown;
}

/** Signs in at the provider, whose token has these claims; returns the session token. */
const signIn = async (subject: string, claims: AddressClaims, { issuer, call } = service): Promise<string> => {
  const token = await issuer.createAccessToken(subject, { ...claims });
  return String((await call("POST", "/auth/token?app_vendor_id=relicario", null, { body: { token } })).body["token"]);
};
const readAddress = async (token: string, { call } = service): Promise<readonly unknown[]> => {
  const { body } = await call("GET", "/user/me", token);
  return [body["contact_email"], body["contact_email_verified"]];
};
const chooseAddress = (token: string, address: string) =>
  service.call("POST", "/user/me", token, { body: { contact_email: address } });

describe("an address that the provider has verified", () => {
  it("is adopted at the first sign-in, and confirmed", async () => {
    const token = await signIn(createSubject(), { email: "ana@example.org", email_verified: true });
    expect(await readAddress(token)).toEqual(["ana@example.org", true]);
  });

  it("confirms the same address, when it was entered here", async () => {
    const subject = createSubject();
    const token = await signIn(subject, {});
    await chooseAddress(token, "ana@example.org");
    await signIn(subject, { email: "ana@example.org", email_verified: true });
    expect(await readAddress(token)).toEqual(["ana@example.org", true]);
  });

  it("replaces the address when it changes at the provider, and the previous address hears of it", async () => {
    const subject = createSubject();
    const token = await signIn(subject, { email: `${subject}@example.org`, email_verified: true });
    await signIn(subject, { email: "married@example.org", email_verified: true });
    expect(await readAddress(token)).toEqual(["married@example.org", true]);
    expect((await readMails(service)).filter(({ to }) => to === `${subject}@example.org`)).toMatchObject([
      { subject: "Your Relicario contact e-mail was changed" },
    ]);
    expect((await service.call("GET", "/user/activity", token)).text).toContain("profile_changed");
  });

  it("leaves an address that was chosen here, until it changes at the provider", async () => {
    const subject = createSubject();
    const token = await signIn(subject, { email: "office@example.org", email_verified: true });
    await chooseAddress(token, "home@example.org");
    await signIn(subject, { email: "office@example.org", email_verified: true });
    expect(await readAddress(token)).toEqual(["home@example.org", false]);
  });

  it.each([
    ["not verified", { email: "ana@example.org", email_verified: false }],
    ["without a word about it", { email: "ana@example.org" }],
    ["verified by a text", { email: "ana@example.org", email_verified: "true" }],
    ["malformed", { email: "ana at example.org", email_verified: true }],
    ["too long", { email: `${"a".repeat(250)}@example.org`, email_verified: true }],
  ])("is not adopted when it is %s", async (_, claims) => {
    expect(await readAddress(await signIn(createSubject(), claims))).toEqual([null, false]);
  });

  it("is not adopted without IDP_EMAIL", async () => {
    const plain = await startService();
    try {
      const token = await signIn(createSubject(), { email: "ana@example.org", email_verified: true }, plain);
      expect(await readAddress(token, plain)).toEqual([null, false]);
    } finally {
      await plain.stop();
    }
  });
});
