import { eq } from "drizzle-orm";

import { accounts, emailValidations } from "../db/schema.ts";
import { openSaboteur } from "../testing/database-faults.ts";
import { mailsOf } from "../testing/outbox.ts";
import type { Person } from "../testing/person.ts";
import { askAddress } from "./contact-address.ts";
import { startService, type Answer, type TestService } from "../testing/service.ts";

let service: TestService;
let clock: Date;
beforeEach(async () => {
  clock = new Date();
  service = await startService({}, () => clock);
});
afterEach(() => service.stop());

const withAddress = async (address = "ana+x@example.org"): Promise<Person> => {
  const person = await service.signIn();
  await service.call("POST", "/user/me", person.token, { body: { contact_email: address } });
  return person;
};

const ask = (person: Person, language = "en"): Promise<Answer> =>
  service.call("POST", "/user/send-validate-email", person.token, { headers: { "accept-language": language } });

/** What the newest mail's link carries behind #. */
const linkOf = async (): Promise<{ value: string; nonce: string }> => {
  const { text } = (await mailsOf(service)).at(-1) ?? { text: "" };
  const [, query = ""] = /http:\/\/localhost:3000\/validate-email#(\S+)/.exec(text) ?? [];
  const found = new URLSearchParams(query);
  return { value: found.get("value") ?? "", nonce: found.get("nonce") ?? "" };
};

const answer = (person: Person, link: { value: string; nonce: string }): Promise<Answer> =>
  service.call("GET", `/user/validate-contact-email?${new URLSearchParams({ ...link }).toString()}`, person.token);

const isVerified = async (person: Person): Promise<unknown> =>
  (await service.call("GET", "/user/me", person.token)).body["contact_email_verified"];

const refused = { status: 422, body: { code: "validation_error", errors: [{ path: "/nonce", reason: "invalid" }] } };

describe("validating a contact address", () => {
  it("verifies it by the link of the mail, once", async () => {
    const person = await withAddress();
    expect(await ask(person)).toMatchObject({ status: 204, text: "" });
    expect((await mailsOf(service)).at(-1)).toMatchObject({
      to: "ana+x@example.org",
      subject: "Is this your address? A question from Relicario",
    });
    const link = await linkOf();
    expect(link.value).toBe("ana+x@example.org");
    expect(Buffer.from(link.nonce, "base64url")).toHaveLength(16);
    expect(await isVerified(person)).toBe(false);
    expect(await answer(person, link)).toMatchObject({ status: 200, body: { valid: true } });
    expect(await isVerified(person)).toBe(true);
    expect(await answer(person, link)).toMatchObject(refused);
    expect(await isVerified(person)).toBe(true);
  });

  it("writes in the reader's language", async () => {
    const person = await withAddress();
    await ask(person, "es");
    expect((await mailsOf(service)).at(-1)?.subject).toBe("¿Es tuya esta dirección? Una pregunta de Relicario");
  });

  it("answers everything that is not right in the same words", async () => {
    const person = await withAddress();
    const somebody = await withAddress("ana+x@example.org");
    // nothing was asked
    expect(await answer(person, { value: "ana+x@example.org", nonce: "A".repeat(22) })).toMatchObject(refused);
    await ask(person);
    const link = await linkOf();
    const turned = `${link.nonce.startsWith("A") ? "B" : "A"}${link.nonce.slice(1)}`;
    const wrong = [
      await answer(person, { ...link, nonce: turned }),
      await answer(person, { ...link, value: "eva@example.org" }),
      await answer(somebody, link),
    ];
    for (const one of wrong) expect(one).toMatchObject(refused);
    const { request_id: _, ...first } = wrong[0]?.body ?? {};
    for (const { body } of wrong) expect(body).toMatchObject(first);
    expect([await isVerified(person), await isVerified(somebody)]).toEqual([false, false]);
    expect((await answer(person, link)).status).toBe(200);
  });

  it("takes the newest link alone, and none for an address that was changed since", async () => {
    const person = await withAddress();
    await ask(person);
    const first = await linkOf();
    await ask(person);
    const second = await linkOf();
    expect(await answer(person, first)).toMatchObject(refused);
    await service.call("POST", "/user/me", person.token, { body: { contact_email: "other@example.org" } });
    expect(await answer(person, second)).toMatchObject(refused);
    expect(await isVerified(person)).toBe(false);
  });

  it("forgets the question after a day", async () => {
    const person = await withAddress();
    await ask(person);
    const link = await linkOf();
    clock = new Date(clock.getTime() + 24 * 3_600_000 + 1);
    expect(await answer(person, link)).toMatchObject(refused);
    await service.app.sweep();
    expect(
      await service.app.services.db
        .select()
        .from(emailValidations)
        .where(eq(emailValidations.accountId, person.userId)),
    ).toEqual([]);
  });

  it("is not tried again by itself when its commit was under way: a nonce that counted would be called wrong", async () => {
    const person = await withAddress();
    await ask(person);
    const link = await linkOf();
    const saboteur = await openSaboteur(service.database.url);
    await saboteur.query("create table gate ()");
    await saboteur.query(
      "create function pass() returns trigger language plpgsql as 'begin lock table gate in access share mode; return null; end'",
    );
    await saboteur.query(
      "create constraint trigger at_commit after delete on email_validations deferrable initially deferred for each row execute function pass()",
    );
    await saboteur.hold("gate");
    const answering = answer(person, link);
    await saboteur.waiting(1);
    await saboteur.terminate("waiting");
    await saboteur.release();
    await saboteur.close();
    expect(await answering).toMatchObject({ status: 503, body: { code: "service_unavailable" } });
    expect((await answer(person, link)).status).toBe(200);
  });

  it("keeps no nonce, and sends nothing to an address that is verified or not there", async () => {
    const person = await withAddress();
    await ask(person);
    const link = await linkOf();
    const [row] = await service.app.services.db.select().from(emailValidations);
    expect(JSON.stringify(row)).not.toContain(link.nonce);
    await answer(person, link);
    expect(await ask(person)).toMatchObject({ status: 204 });
    expect(await mailsOf(service)).toHaveLength(1);
    expect(await ask(await service.signIn())).toMatchObject({
      status: 422,
      body: { errors: [{ path: "/contact_email", reason: "missing" }] },
    });
    expect(service.log()).not.toContain(link.nonce);
    expect(service.log()).not.toContain("example.org");
  });

  it("is limited for each mailbox, whoever asks and however it is written", async () => {
    const spellings = [
      "victim@example.org",
      "Victim@Example.org",
      "vic.tim@example.org",
      "victim+1@example.org",
      "victim+2@example.org",
    ];
    for (const address of spellings) expect((await ask(await withAddress(address))).status).toBe(204);
    const last = await withAddress("victim+3@example.org");
    expect(await ask(last)).toMatchObject({ status: 429, body: { code: "too_many_requests" } });
    expect(await mailsOf(service)).toHaveLength(5);
    expect((await ask(await withAddress("other@example.org"))).status).toBe(204);
    clock = new Date(clock.getTime() + 24 * 3_600_000);
    expect((await ask(last)).status).toBe(204);
  });

  it("goes to the address that was asked and counted, not to one that the account asks meanwhile", async () => {
    const person = await withAddress("own@example.org");
    const { db, mailer } = service.app.services;
    for (const address of ["own@example.org", "victim@example.org"]) {
      await db.update(accounts).set({ contactEmail: address }).where(eq(accounts.id, person.userId));
      const own = { accountId: person.userId, vendorId: "relicario" };
      // queued, and not yet on its way
      await db.transaction((tx) => askAddress(tx, own, service.app.services, { now: clock, language: null }));
    }
    expect(await mailer.deliver()).toBe(1);
    expect((await mailsOf(service)).map(({ to }) => to)).toEqual(["victim@example.org"]);
  });

  it("leads to the portal of the account's vendor, where that has one of its own", async () => {
    const person = await service.signIn(undefined, "second");
    await service.call("POST", "/user/me", person.token, { body: { contact_email: "ana@example.org" } });
    expect((await ask(person)).status).toBe(204);
    const [mail] = await mailsOf(service);
    expect(mail?.text).toContain("https://second.example/validate-email#");
    expect(mail?.text).not.toContain(service.origin);
  });

  it("is limited for each account and for all", async () => {
    const person = await withAddress();
    for (let count = 0; count < 5; count++) expect((await ask(person)).status).toBe(204);
    expect(await ask(person)).toMatchObject({ status: 429, body: { code: "too_many_requests" } });
    const strict = await startService({ RATE_LIMITS: '{"ask_address_all":1}' });
    try {
      const people = [await strict.signIn(), await strict.signIn()];
      const statuses: number[] = [];
      for (const { token } of people)
        statuses.push((await strict.call("POST", "/user/send-validate-email", token)).status);
      expect(statuses).toEqual([422, 429]);
    } finally {
      await strict.stop();
    }
  });
});
