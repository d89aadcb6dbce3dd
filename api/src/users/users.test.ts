import { Me } from "@relicario/shared/api";
import { eq } from "drizzle-orm";

import { accounts, userNames } from "../db/schema.ts";
import { startService, type TestService } from "../testing/service.ts";
import { buildSecret, type Person } from "../testing/person.ts";

let service: TestService;
let clock: Date;
beforeAll(async () => {
  clock = new Date();
  service = await startService({}, () => clock);
});
afterAll(() => service.stop());

const advanceDays = (count: number): void => {
  clock = new Date(clock.getTime() + count * 86_400_000);
};
const updateMe = (person: Person, body: unknown) => service.call("POST", "/user/me", person.token, { body });

const nameTakenResponse = {
  status: 422,
  body: { code: "validation_error", errors: [{ path: "/user_name", reason: "taken" }] },
};

describe("GET /user/me", () => {
  it("shows the account that is signed in", async () => {
    const person = await service.signIn("julia");
    const me = Me.parse((await service.call("GET", "/user/me", person.token)).body);
    expect(me).toMatchObject({
      user_id: person.userId,
      user_name: "julia",
      username: "julia",
      contact_email: null,
      contact_email_verified: false,
      licence: { plan: "free", storage_quota: 10 * 1024 ** 3, storage_used: 0, secrets: 0, shares: 0 },
    });
  });
});

describe("POST /user/validate-username", () => {
  const validateName = (person: Person, name: string) =>
    service.call("POST", `/user/validate-username?${new URLSearchParams({ username: name }).toString()}`, person.token);
  const buildNameRejection = (reason: string) => ({
    status: 422,
    body: { code: "validation_error", errors: [{ path: "/username", reason }] },
  });

  it("accepts a free name and the caller's own name, and reserves neither name", async () => {
    const [person, otherUser] = [await service.signIn("val.1"), await service.signIn("val.2")];
    expect(await validateName(person, "val.3")).toMatchObject({ status: 200, body: { valid: true } });
    expect(await validateName(person, "VAL.1")).toMatchObject({ status: 200, body: { valid: true } });
    expect((await updateMe(otherUser, { user_name: "val.3" })).status).toBe(200);
    expect(await validateName(person, "val.3")).toMatchObject(buildNameRejection("taken"));
  });

  it("reports a name as taken in any letter case, also while it is reserved, except to its former owner", async () => {
    const [firstPerson, secondPerson] = [await service.signIn("val.4"), await service.signIn("val.5")];
    expect(await validateName(secondPerson, "VAL.4")).toMatchObject(buildNameRejection("taken"));
    await updateMe(firstPerson, { user_name: "val.6" });
    expect(await validateName(secondPerson, "val.4")).toMatchObject(buildNameRejection("taken"));
    expect((await validateName(firstPerson, "val.4")).status).toBe(200);
    advanceDays(90.1);
    expect((await validateName(secondPerson, "val.4")).status).toBe(200);
  });

  it.each(["", "ab", "a b c", "ñandu", "\u0430na", "a".repeat(33)])("calls %j malformed", async (name) => {
    expect(await validateName(await service.signIn(), name)).toMatchObject(buildNameRejection("malformed"));
  });

  it("accepts only the name in the query, which is not logged", async () => {
    const person = await service.signIn();
    expect((await service.call("POST", "/user/validate-username", person.token)).status).toBe(422);
    expect((await validateName(person, "planted-sentinel-name")).status).toBe(200);
    expect(service.readLog()).not.toContain("planted-sentinel-name");
  });

  it("is limited per hour, so that no one can list users", async () => {
    const person = await service.signIn();
    for (let count = 0; count < 300; count++) expect((await validateName(person, "val.7")).status).toBe(200);
    expect(await validateName(person, "val.7")).toMatchObject({ status: 429, body: { code: "too_many_requests" } });
  });
});

describe("POST /user/me", () => {
  it("changes name and address, and returns the account", async () => {
    const person = await service.signIn();
    const name = `Ana.B_${person.subject}`.slice(0, 32);
    const response = await updateMe(person, { user_name: name, contact_email: "me@example.org" });
    expect(response).toMatchObject({
      status: 200,
      body: { user_name: name, contact_email: "me@example.org", contact_email_verified: false },
    });
    expect((await service.call("GET", "/user/me", person.token)).body).toEqual(response.body);
    expect((await updateMe(person, {})).body).toEqual(response.body);
  });

  it("gives a name to one person only, in any letter case, and shows the name as typed", async () => {
    const [firstPerson, secondPerson] = [await service.signIn("karl"), await service.signIn("kai-1")];
    expect(await updateMe(secondPerson, { user_name: "KARL" })).toMatchObject(nameTakenResponse);
    expect((await updateMe(firstPerson, { user_name: "Karl" })).body).toMatchObject({ user_name: "Karl" });
  });

  it("reserves a released name for 90 days for its former owner", async () => {
    const [firstPerson, secondPerson] = [await service.signIn("rest.1"), await service.signIn("other.1")];
    expect((await updateMe(firstPerson, { user_name: "rest.2" })).status).toBe(200);
    advanceDays(89);
    expect(await updateMe(secondPerson, { user_name: "REST.1" })).toMatchObject(nameTakenResponse);
    expect((await updateMe(firstPerson, { user_name: "rest.1" })).status).toBe(200);
    expect((await updateMe(firstPerson, { user_name: "rest.3" })).status).toBe(200);
    advanceDays(89);
    await service.app.sweep();
    expect(await updateMe(secondPerson, { user_name: "rest.1" })).toMatchObject(nameTakenResponse);
    advanceDays(1.1);
    expect((await updateMe(secondPerson, { user_name: "rest.1" })).body).toMatchObject({ user_name: "rest.1" });
    expect(await updateMe(firstPerson, { user_name: "rest.1" })).toMatchObject(nameTakenResponse);
  });

  it("releases an old non-ASCII name under the key that it was stored by", async () => {
    const person = await service.signIn("wide");
    const { db } = service.app.services;
    await db.update(accounts).set({ userName: "ｗｉｄｅ" }).where(eq(accounts.id, person.userId));
    expect((await updateMe(person, { user_name: "narrow" })).status).toBe(200);
    const nameRows = await db
      .select({ nameKey: userNames.nameKey, releasedAt: userNames.releasedAt })
      .from(userNames)
      .where(eq(userNames.accountId, person.userId));
    expect(nameRows.filter(({ releasedAt }) => releasedAt === null)).toEqual([{ nameKey: "narrow", releasedAt: null }]);
  });

  it("finds the key by its owner's current name only", async () => {
    const [person, otherPerson] = [await service.signIn("key.1"), await service.signIn()];
    const { body } = buildSecret(person);
    await service.call("POST", "/secrets/store", person.token, { body });
    const readKeyStatus = async (name: string) =>
      (await service.call("GET", `/users/${name}/key`, otherPerson.token)).status;
    expect(await readKeyStatus("key.1")).toBe(200);
    await updateMe(person, { user_name: "key.2" });
    expect([await readKeyStatus("key.1"), await readKeyStatus("key.2")]).toEqual([404, 200]);
  });

  it("deletes former owners of names after the reservation", async () => {
    const person = await service.signIn("forget.1");
    await updateMe(person, { user_name: "forget.2" });
    const readNames = async () =>
      (await service.app.services.db.select().from(userNames).where(eq(userNames.accountId, person.userId)))
        .map(({ nameKey }) => nameKey)
        .sort();
    await service.app.sweep();
    expect(await readNames()).toEqual(["forget.1", "forget.2"]);
    advanceDays(90.1);
    await service.app.sweep();
    expect(await readNames()).toEqual(["forget.2"]);
  });

  it("is limited per day, so that no one can reserve or list names", async () => {
    const [person, otherUser] = [await service.signIn("hoard-0"), await service.signIn()];
    for (let count = 1; count <= 20; count++)
      expect((await updateMe(person, { user_name: `hoard-${String(count)}` })).status).toBe(200);
    expect(await updateMe(person, { user_name: "hoard-21" })).toMatchObject({
      status: 429,
      body: { code: "too_many_requests" },
    });
    expect((await updateMe(person, { contact_email: "me@example.org" })).status).toBe(200);
    expect((await updateMe(otherUser, { user_name: "hoard-21" })).status).toBe(200);
  });

  it("gives a name to exactly one of two concurrent callers", async () => {
    const people = [await service.signIn(), await service.signIn()];
    const responses = await Promise.all(people.map((person) => updateMe(person, { user_name: "wanted" })));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 422]);
  });

  it("lets people of another vendor have the same name", async () => {
    const [localPerson, otherVendorPerson] = [await service.signIn("lena"), await service.signIn("lena-x", "second")];
    expect((await updateMe(otherVendorPerson, { user_name: "lena" })).status).toBe(200);
    expect((await service.call("GET", "/user/me", localPerson.token)).body).toMatchObject({ user_name: "lena" });
  });

  it.each(["abc", "-._", "0123456789-abcdefghijklmnopqrs.Z"])("accepts the name %s", async (name) => {
    expect((await updateMe(await service.signIn(), { user_name: name })).body).toMatchObject({ user_name: name });
  });

  it.each([
    { user_name: "ab" },
    { user_name: "a b c" },
    { user_name: "ñandu" },
    { user_name: "\u0430na" },
    { user_name: "ana\n" },
    { user_name: "a".repeat(33) },
    { contact_email: "nobody" },
    { username: "other" },
    { user_id: "x" },
  ])("refuses %j", async (body) => {
    const person = await service.signIn();
    expect(await updateMe(person, body)).toMatchObject({ status: 422, body: { code: "validation_error" } });
  });
});
