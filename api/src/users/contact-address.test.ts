import { eq } from "drizzle-orm";

import { createAccountScope } from "../auth/actor.ts";
import { accounts, emailValidations } from "../db/schema.ts";
import { openFaultInjector } from "../testing/database-faults.ts";
import { readMails } from "../testing/outbox.ts";
import type { Person } from "../testing/person.ts";
import { startService, type TestResponse, type TestService } from "../testing/service.ts";
import { requestAddressValidation } from "./contact-address.ts";

let service: TestService;
let clock: Date;
beforeEach(async () => {
  clock = new Date();
  service = await startService({}, () => clock);
});
afterEach(() => service.stop());

const createPersonWithAddress = async (address = "ana+x@example.org"): Promise<Person> => {
  const person = await service.signIn();
  await service.call("POST", "/user/me", person.token, { body: { contact_email: address } });
  return person;
};

const requestValidation = (person: Person, language = "en"): Promise<TestResponse> =>
  service.call("POST", "/user/send-validate-email", person.token, { headers: { "accept-language": language } });

/** Parameters after # of the newest mail's link. */
const readValidationLink = async (): Promise<{ value: string; nonce: string }> => {
  const { text } = (await readMails(service)).at(-1) ?? { text: "" };
  const [, query = ""] = /http:\/\/localhost:3000\/validate-email#(\S+)/.exec(text) ?? [];
  const parameters = new URLSearchParams(query);
  return { value: parameters.get("value") ?? "", nonce: parameters.get("nonce") ?? "" };
};

const confirmAddress = (person: Person, link: { value: string; nonce: string }): Promise<TestResponse> =>
  service.call("GET", `/user/validate-contact-email?${new URLSearchParams({ ...link }).toString()}`, person.token);

const readIsVerified = async (person: Person): Promise<unknown> =>
  (await service.call("GET", "/user/me", person.token)).body["contact_email_verified"];

const expectedRejection = {
  status: 422,
  body: { code: "validation_error", errors: [{ path: "/nonce", reason: "invalid" }] },
};

describe("validating a contact address", () => {
  it("verifies the address by the link of the mail, once", async () => {
    const person = await createPersonWithAddress();
    expect(await requestValidation(person)).toMatchObject({ status: 204, text: "" });
    expect((await readMails(service)).at(-1)).toMatchObject({
      to: "ana+x@example.org",
      subject: "Confirm your e-mail address for Relicario",
    });
    const link = await readValidationLink();
    expect(link.value).toBe("ana+x@example.org");
    expect(Buffer.from(link.nonce, "base64url")).toHaveLength(16);
    expect(await readIsVerified(person)).toBe(false);
    expect(await confirmAddress(person, link)).toMatchObject({ status: 200, body: { valid: true } });
    expect(await readIsVerified(person)).toBe(true);
    expect(await confirmAddress(person, link)).toMatchObject(expectedRejection);
    expect(await readIsVerified(person)).toBe(true);
  });

  it("writes in the reader's language", async () => {
    const person = await createPersonWithAddress();
    await requestValidation(person, "es");
    expect((await readMails(service)).at(-1)?.subject).toBe("Confirma tu correo para Relicario");
  });

  it("gives the same response to every wrong value, nonce and account", async () => {
    const person = await createPersonWithAddress();
    const otherPerson = await createPersonWithAddress("ana+x@example.org");
    // no validation is pending
    expect(await confirmAddress(person, { value: "ana+x@example.org", nonce: "A".repeat(22) })).toMatchObject(
      expectedRejection,
    );
    await requestValidation(person);
    const link = await readValidationLink();
    const alteredNonce = `${link.nonce.startsWith("A") ? "B" : "A"}${link.nonce.slice(1)}`;
    const wrongResponses = [
      await confirmAddress(person, { ...link, nonce: alteredNonce }),
      await confirmAddress(person, { ...link, value: "eva@example.org" }),
      await confirmAddress(otherPerson, link),
    ];
    for (const wrongResponse of wrongResponses) expect(wrongResponse).toMatchObject(expectedRejection);
    const { request_id: _, ...firstRejection } = wrongResponses[0]?.body ?? {};
    for (const { body } of wrongResponses) expect(body).toMatchObject(firstRejection);
    expect([await readIsVerified(person), await readIsVerified(otherPerson)]).toEqual([false, false]);
    expect((await confirmAddress(person, link)).status).toBe(200);
  });

  it("accepts only the newest link, and none for an address that was changed since", async () => {
    const person = await createPersonWithAddress();
    await requestValidation(person);
    const firstLink = await readValidationLink();
    await requestValidation(person);
    const secondLink = await readValidationLink();
    expect(await confirmAddress(person, firstLink)).toMatchObject(expectedRejection);
    await service.call("POST", "/user/me", person.token, { body: { contact_email: "other@example.org" } });
    expect(await confirmAddress(person, secondLink)).toMatchObject(expectedRejection);
    expect(await readIsVerified(person)).toBe(false);
  });

  it("expires after a day", async () => {
    const person = await createPersonWithAddress();
    await requestValidation(person);
    const link = await readValidationLink();
    clock = new Date(clock.getTime() + 24 * 3_600_000 + 1);
    expect(await confirmAddress(person, link)).toMatchObject(expectedRejection);
    await service.app.sweep();
    expect(
      await service.app.services.db
        .select()
        .from(emailValidations)
        .where(eq(emailValidations.accountId, person.userId)),
    ).toEqual([]);
  });

  it("is not retried when its commit was under way: a used nonce would be reported as wrong", async () => {
    const person = await createPersonWithAddress();
    await requestValidation(person);
    const link = await readValidationLink();
    const faultInjector = await openFaultInjector(service.database.url);
    await faultInjector.query("create table gate ()");
    await faultInjector.query(
      "create function pass() returns trigger language plpgsql as 'begin lock table gate in access share mode; return null; end'",
    );
    await faultInjector.query(
      "create constraint trigger at_commit after delete on email_validations deferrable initially deferred for each row execute function pass()",
    );
    await faultInjector.lockTable("gate");
    const pendingResponse = confirmAddress(person, link);
    await faultInjector.waitForBlocked(1);
    await faultInjector.terminate("waiting");
    await faultInjector.release();
    await faultInjector.close();
    expect(await pendingResponse).toMatchObject({ status: 503, body: { code: "service_unavailable" } });
    expect((await confirmAddress(person, link)).status).toBe(200);
  });

  it("stores no nonce, and sends nothing to a verified or missing address", async () => {
    const person = await createPersonWithAddress();
    await requestValidation(person);
    const link = await readValidationLink();
    const [row] = await service.app.services.db.select().from(emailValidations);
    expect(JSON.stringify(row)).not.toContain(link.nonce);
    await confirmAddress(person, link);
    expect(await requestValidation(person)).toMatchObject({ status: 204 });
    expect(await readMails(service)).toHaveLength(1);
    expect(await requestValidation(await service.signIn())).toMatchObject({
      status: 422,
      body: { errors: [{ path: "/contact_email", reason: "missing" }] },
    });
    expect(service.readLog()).not.toContain(link.nonce);
    expect(service.readLog()).not.toContain("example.org");
  });

  it("is limited per mailbox, across accounts and spellings", async () => {
    const spellings = [
      "victim@example.org",
      "Victim@Example.org",
      "vic.tim@example.org",
      "victim+1@example.org",
      "victim+2@example.org",
    ];
    for (const address of spellings)
      expect((await requestValidation(await createPersonWithAddress(address))).status).toBe(204);
    const lastPerson = await createPersonWithAddress("victim+3@example.org");
    expect(await requestValidation(lastPerson)).toMatchObject({ status: 429, body: { code: "too_many_requests" } });
    expect(await readMails(service)).toHaveLength(5);
    expect((await requestValidation(await createPersonWithAddress("other@example.org"))).status).toBe(204);
    clock = new Date(clock.getTime() + 24 * 3_600_000);
    expect((await requestValidation(lastPerson)).status).toBe(204);
  });

  it("sends the mail to the address that was counted, even if another address was set meanwhile", async () => {
    const person = await createPersonWithAddress("own@example.org");
    const { db, mailer } = service.app.services;
    for (const address of ["own@example.org", "victim@example.org"]) {
      await db.update(accounts).set({ contactEmail: address }).where(eq(accounts.id, person.userId));
      const scope = createAccountScope(person.userId, "relicario");
      // queued but not sent yet
      await db.transaction((tx) =>
        requestAddressValidation(tx, scope, service.app.services, { now: clock, language: null }),
      );
    }
    expect(await mailer.deliver()).toBe(1);
    expect((await readMails(service)).map(({ to }) => to)).toEqual(["victim@example.org"]);
  });

  it("links to the portal of the account's vendor, if the vendor has its own portal", async () => {
    const person = await service.signIn(undefined, "second");
    await service.call("POST", "/user/me", person.token, { body: { contact_email: "ana@example.org" } });
    expect((await requestValidation(person)).status).toBe(204);
    const [mail] = await readMails(service);
    expect(mail?.text).toContain("https://second.example/validate-email#");
    expect(mail?.text).not.toContain(service.origin);
  });

  it("is limited per account and globally", async () => {
    const person = await createPersonWithAddress();
    for (let count = 0; count < 5; count++) expect((await requestValidation(person)).status).toBe(204);
    expect(await requestValidation(person)).toMatchObject({ status: 429, body: { code: "too_many_requests" } });
    const limitedService = await startService({ RATE_LIMITS: '{"ask_address_all":1}' });
    try {
      const people = [await limitedService.signIn(), await limitedService.signIn()];
      const statuses: number[] = [];
      for (const { token } of people)
        statuses.push((await limitedService.call("POST", "/user/send-validate-email", token)).status);
      expect(statuses).toEqual([422, 429]);
    } finally {
      await limitedService.stop();
    }
  });
});
