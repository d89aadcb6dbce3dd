import { deviceLinkLifetimeMinutes, maxDeviceLinkLength } from "@relicario/shared/api";
import { and, eq } from "drizzle-orm";

import { accounts, deviceLinks, publicIds } from "../db/schema.ts";
import { readMails } from "../testing/outbox.ts";
import { buildJwe, createPerson, type Person } from "../testing/person.ts";
import { startService, type TestResponse, type TestService } from "../testing/service.ts";
import { createPublicId } from "../testing/sharing.ts";

let service: TestService;
let clock: Date;
beforeAll(async () => {
  clock = new Date();
  service = await startService({}, () => clock);
});
beforeEach(() => {
  clock = new Date();
});
afterAll(() => service.stop());

const buildMessage = ({ userId }: Person, id: string): string =>
  buildJwe({ typ: "relicario-link-device", user_id: userId, id });
const fillLink = (person: Person, id: string, message = buildMessage(person, id)): Promise<TestResponse> =>
  service.call("PUT", `/device-links/${id}`, person.token, { body: { message } });
const readLink = (person: Person, id: string): Promise<TestResponse> =>
  service.call("GET", `/device-links/${id}`, person.token);
const answerLink = (person: Person, id: string, text = buildMessage(person, id)): Promise<TestResponse> =>
  service.call("PUT", `/device-links/${id}/answer`, person.token, { body: { answer: text } });
const readAnswer = (person: Person, id: string): Promise<TestResponse> =>
  service.call("GET", `/device-links/${id}/answer`, person.token);
const expectProblem = (status: number, code: string): unknown =>
  expect.objectContaining({ status, body: expect.objectContaining({ code }) as unknown });

/** A session of this person; with `sid` one of that session of the provider. */
const createSession = async (subject: string, sid?: string): Promise<Person> => {
  const token = await service.issuer.accessToken(subject, { sid });
  const exchangeResponse = await service.call("POST", "/auth/token?app_vendor_id=relicario", null, { body: { token } });
  return createPerson(subject, String(exchangeResponse.body["token"]));
};

/** Two devices of one account, each signed in, and a mailbox that the laptop filled. */
const createTwoDevices = async () => {
  const laptop = await service.signIn();
  const phone = await service.signIn(laptop.subject);
  const id = createPublicId();
  const message = buildMessage(laptop, id);
  const fillResponse = await fillLink(laptop, id, message);
  return {
    laptop,
    phone,
    id,
    message,
    filled: fillResponse,
    expiresAt: new Date(clock.getTime() + deviceLinkLifetimeMinutes * 60_000).toISOString(),
  };
};

describe("a mailbox between two devices", () => {
  it("is filled by one, read and answered by the other, and the answer is read by the first alone", async () => {
    const { laptop, phone, id, message, filled, expiresAt } = await createTwoDevices();
    expect(filled).toMatchObject({ status: 200, body: { expires_at: expiresAt } });
    expect((await readAnswer(laptop, id)).body).toEqual({ answer: null, expires_at: expiresAt });
    expect((await readLink(phone, id)).body).toEqual({ message, expires_at: expiresAt });
    const text = buildMessage(phone, id);
    expect((await answerLink(phone, id, text)).body).toEqual({ expires_at: expiresAt });
    expect((await readAnswer(laptop, id)).body).toEqual({ answer: text, expires_at: expiresAt });
    expect(await readAnswer(phone, id)).toEqual(expectProblem(403, "forbidden"));
    expect(await readLink(laptop, id)).toEqual(expectProblem(403, "forbidden"));
  });

  it("does not exist for another account, which cannot take its id either", async () => {
    const { phone, id, message } = await createTwoDevices();
    const stranger = await service.signIn();
    for (const refusal of [
      await readLink(stranger, id),
      await answerLink(stranger, id),
      await readAnswer(stranger, id),
    ])
      expect(refusal).toEqual(expectProblem(404, "not_found"));
    expect(await fillLink(stranger, id)).toEqual(expectProblem(409, "id_taken"));
    expect((await readLink(phone, id)).body).toMatchObject({ message });
  });

  it("is filled once: the same again answers as the first time, anything else or anybody else is refused", async () => {
    const { laptop, phone, id, message, filled } = await createTwoDevices();
    clock = new Date(clock.getTime() + 60_000);
    expect((await fillLink(laptop, id, message)).body).toEqual(filled.body); // no minute more
    expect(await fillLink(laptop, id)).toEqual(expectProblem(409, "id_taken"));
    expect(await fillLink(phone, id, message)).toEqual(expectProblem(409, "id_taken"));
    expect((await readLink(phone, id)).body).toMatchObject({ message });
  });

  it("is answered once, the same again included, and never by the session that filled it", async () => {
    const { laptop, phone, id } = await createTwoDevices();
    expect(await answerLink(laptop, id)).toEqual(expectProblem(403, "forbidden"));
    const text = buildMessage(phone, id);
    for (let times = 0; times < 2; times++) expect((await answerLink(phone, id, text)).status).toBe(200);
    expect(await answerLink(phone, id)).toEqual(expectProblem(409, "conflict"));
    expect(await answerLink(await service.signIn(laptop.subject), id)).toEqual(expectProblem(409, "conflict"));
    expect((await readAnswer(laptop, id)).body).toMatchObject({ answer: text });
  });

  it("takes a renewed session of the same sign-in for the same device", async () => {
    const laptop = await createSession("renewed", "sign-in 1");
    const id = createPublicId();
    const message = buildMessage(laptop, id);
    await fillLink(laptop, id, message);
    const renewedSession = await createSession("renewed", "sign-in 1");
    expect(await answerLink(renewedSession, id)).toEqual(expectProblem(403, "forbidden"));
    expect((await fillLink(renewedSession, id, message)).status).toBe(200);
    expect((await readAnswer(renewedSession, id)).body).toMatchObject({ answer: null });
    expect((await answerLink(await createSession("renewed", "sign-in 2"), id)).status).toBe(200);
  });

  it("is gone after 5 minutes, and its row and its id with the next sweep", async () => {
    const { laptop, phone, id } = await createTwoDevices();
    const otherDevices = await createTwoDevices();
    clock = new Date(clock.getTime() + deviceLinkLifetimeMinutes * 60_000 - 1);
    expect((await readLink(phone, id)).status).toBe(200);
    clock = new Date(clock.getTime() + 1);
    for (const refusal of [await readLink(phone, id), await answerLink(phone, id), await readAnswer(laptop, id)])
      expect(refusal).toEqual(expectProblem(404, "not_found"));
    expect(await fillLink(laptop, id)).toEqual(expectProblem(409, "id_taken")); // a new code is asked for
    const { db } = service.app.services;
    await db
      .update(deviceLinks)
      .set({ expiresAt: new Date(clock.getTime() + 1) })
      .where(and(eq(deviceLinks.accountId, otherDevices.laptop.userId), eq(deviceLinks.linkId, otherDevices.id)));
    await service.app.sweep();
    expect((await db.select().from(deviceLinks)).map(({ linkId }) => linkId)).toEqual([otherDevices.id]);
    expect((await db.select().from(publicIds)).map(({ publicId }) => publicId)).toEqual([otherDevices.id]);
  });

  it("holds 16 KiB at most, sealed letters alone, under an id of 128 bits", async () => {
    const person = await service.signIn();
    const buildMessageOfLength = (length: number): string => `a..a.${"a".repeat(length - 7)}.a`;
    expect(await fillLink(person, createPublicId(), buildMessageOfLength(maxDeviceLinkLength + 1))).toEqual(
      expectProblem(413, "payload_too_large"),
    );
    expect(await fillLink(person, createPublicId(), "plain words")).toEqual(expectProblem(422, "validation_error"));
    expect(await fillLink(person, "short")).toEqual(expectProblem(422, "validation_error"));
    const { phone, id } = await createTwoDevices();
    expect(await answerLink(phone, id, buildMessageOfLength(maxDeviceLinkLength + 1))).toEqual(
      expectProblem(413, "payload_too_large"),
    );
    expect(await answerLink(phone, id, "plain words")).toEqual(expectProblem(422, "validation_error"));
  });

  it("tells of its answer by one mail, and of nothing else", async () => {
    const { laptop, phone, id } = await createTwoDevices();
    await service.app.services.db
      .update(accounts)
      .set({ contactEmail: "ana@example.org", contactEmailVerified: true })
      .where(eq(accounts.id, laptop.userId));
    await readLink(phone, id);
    expect(await readMails(service)).toEqual([]);
    const text = buildMessage(phone, id);
    await service.call("PUT", `/device-links/${id}/answer`, phone.token, {
      body: { answer: text },
      headers: { "accept-language": "es" },
    });
    await answerLink(phone, id, text);
    const mails = await readMails(service);
    expect(mails.map(({ to, subject }) => [to, subject])).toEqual([
      ["ana@example.org", "Otro dispositivo abre tus secretos de Relicario"],
    ]);
    expect(mails[0]?.text).toContain("quita la última llave de acceso");
    expect(mails[0]?.source).not.toContain(id);
  });

  it("is made so often and no oftener", async () => {
    const person = await service.signIn();
    const statuses: number[] = [];
    for (let count = 0; count < 21; count++) statuses.push((await fillLink(person, createPublicId())).status);
    expect(statuses.slice(0, 20)).toEqual(Array<number>(20).fill(200));
    expect(statuses[20]).toBe(429);
  });
});
