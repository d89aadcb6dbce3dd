import { eq } from "drizzle-orm";

import { accounts } from "../db/schema.ts";
import { readMails } from "../testing/outbox.ts";
import type { Person } from "../testing/person.ts";
import { startService, type TestService } from "../testing/service.ts";

let service: TestService;
let clock: Date;
beforeAll(async () => {
  service = await startService({}, () => clock);
});
beforeEach(() => {
  clock = new Date("2026-11-21T12:00:00.000Z");
});
afterAll(() => service.stop());

const formatInDays = (days: number): string => new Date(clock.getTime() + days * 86_400_000).toISOString();
const setDueTime = (person: Person, rehearsal_due_at: string | null) =>
  service.call("POST", "/user/me", person.token, { body: { rehearsal_due_at } });
const sweepAfter = async (days: number): Promise<void> => {
  clock = new Date(formatInDays(days));
  expect(await service.app.sweep()).toBe(true);
};
const subject = "Does your picture still open your Relicario secrets?";
const readReminders = async (address: string) =>
  (await readMails(service)).filter((mail) => mail.to === address && mail.subject === subject).length;

/** A person with a verified address. */
const createMailReader = async (address: string): Promise<Person> => {
  const person = await service.signIn();
  await service.app.services.db
    .update(accounts)
    .set({ contactEmail: address, contactEmailVerified: true })
    .where(eq(accounts.id, person.userId));
  return person;
};

describe("rehearsal_due_at", () => {
  it("is stored and returned for its own account only, and cleared with null", async () => {
    const [person, otherUser] = [await createMailReader("kept@example.org"), await service.signIn()];
    expect(await setDueTime(person, formatInDays(180))).toMatchObject({
      status: 200,
      body: { rehearsal_due_at: formatInDays(180) },
    });
    expect((await service.call("GET", "/user/me", otherUser.token)).body).toMatchObject({ rehearsal_due_at: null });
    expect((await service.call("POST", "/user/me", person.token, { body: {} })).body).toMatchObject({
      rehearsal_due_at: formatInDays(180),
    });
    expect(await setDueTime(person, null)).toMatchObject({ status: 200, body: { rehearsal_due_at: null } });
  });

  it.each([["soon"], ["2026-11-21"], ["0020-02-29T00:00:00.000Z"], [180]])("refuses %p", async (value) => {
    const person = await service.signIn();
    expect(await service.call("POST", "/user/me", person.token, { body: { rehearsal_due_at: value } })).toMatchObject({
      status: 422,
      body: { code: "validation_error" },
    });
  });
});

describe("the reminder to check a copy", () => {
  it("is sent when it is due, once for each due time", async () => {
    const person = await createMailReader("once@example.org");
    await setDueTime(person, formatInDays(10));
    await sweepAfter(9);
    expect(await readReminders("once@example.org")).toBe(0);
    await sweepAfter(2);
    expect(await readReminders("once@example.org")).toBe(1);
    await sweepAfter(30);
    expect(await readReminders("once@example.org")).toBe(1);
    await setDueTime(person, formatInDays(1)); // after checking the copy
    await sweepAfter(2);
    expect(await readReminders("once@example.org")).toBe(2);
  });

  it("is not sent to people who checked their copy in time, or have nothing stored", async () => {
    const person = await createMailReader("never@example.org");
    await setDueTime(person, formatInDays(1));
    await setDueTime(person, formatInDays(180));
    await sweepAfter(2);
    await setDueTime(person, null);
    await sweepAfter(300);
    expect(await readReminders("never@example.org")).toBe(0);
  });

  it("is not sent to an unverified address", async () => {
    const person = await createMailReader("unconfirmed@example.org");
    await service.app.services.db
      .update(accounts)
      .set({ contactEmailVerified: false })
      .where(eq(accounts.id, person.userId));
    await setDueTime(person, formatInDays(1));
    await sweepAfter(2);
    expect(await readReminders("unconfirmed@example.org")).toBe(0);
  });
});
