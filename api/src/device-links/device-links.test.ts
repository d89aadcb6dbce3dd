import { deviceLinkMinutes, maxDeviceLinkLength } from "@relicario/shared/api";
import { and, eq } from "drizzle-orm";

import { accounts, deviceLinks, publicIds } from "../db/schema.ts";
import { mailsOf } from "../testing/outbox.ts";
import { buildJwe, createPerson, type Person } from "../testing/person.ts";
import { startService, type Answer, type TestService } from "../testing/service.ts";
import { newPublicId } from "../testing/sharing.ts";

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

const letterOf = ({ userId }: Person, id: string): string =>
  buildJwe({ typ: "relicario-link-device", user_id: userId, id });
const fill = (person: Person, id: string, message = letterOf(person, id)): Promise<Answer> =>
  service.call("PUT", `/device-links/${id}`, person.token, { body: { message } });
const read = (person: Person, id: string): Promise<Answer> => service.call("GET", `/device-links/${id}`, person.token);
const answer = (person: Person, id: string, text = letterOf(person, id)): Promise<Answer> =>
  service.call("PUT", `/device-links/${id}/answer`, person.token, { body: { answer: text } });
const readAnswer = (person: Person, id: string): Promise<Answer> =>
  service.call("GET", `/device-links/${id}/answer`, person.token);
const refused = (status: number, code: string): unknown =>
  expect.objectContaining({ status, body: expect.objectContaining({ code }) as unknown });

/** A session of this person; with `sid` one of that session of the provider. */
const sessionOf = async (subject: string, sid?: string): Promise<Person> => {
  const token = await service.issuer.accessToken(subject, { sid });
  const exchanged = await service.call("POST", "/auth/token?app_vendor_id=relicario", null, { body: { token } });
  return createPerson(subject, String(exchanged.body["token"]));
};

/** Two devices of one account, each signed in, and a mailbox that the laptop filled. */
const twoDevices = async () => {
  const laptop = await service.signIn();
  const phone = await service.signIn(laptop.subject);
  const id = newPublicId();
  const message = letterOf(laptop, id);
  const filled = await fill(laptop, id, message);
  return {
    laptop,
    phone,
    id,
    message,
    filled,
    expiresAt: new Date(clock.getTime() + deviceLinkMinutes * 60_000).toISOString(),
  };
};

describe("a mailbox between two devices", () => {
  it("is filled by one, read and answered by the other, and the answer is read by the first alone", async () => {
    const { laptop, phone, id, message, filled, expiresAt } = await twoDevices();
    expect(filled).toMatchObject({ status: 200, body: { expires_at: expiresAt } });
    expect((await readAnswer(laptop, id)).body).toEqual({ answer: null, expires_at: expiresAt });
    expect((await read(phone, id)).body).toEqual({ message, expires_at: expiresAt });
    const text = letterOf(phone, id);
    expect((await answer(phone, id, text)).body).toEqual({ expires_at: expiresAt });
    expect((await readAnswer(laptop, id)).body).toEqual({ answer: text, expires_at: expiresAt });
    expect(await readAnswer(phone, id)).toEqual(refused(403, "forbidden"));
    expect(await read(laptop, id)).toEqual(refused(403, "forbidden"));
  });

  it("does not exist for another account, which cannot take its id either", async () => {
    const { phone, id, message } = await twoDevices();
    const stranger = await service.signIn();
    for (const refusal of [await read(stranger, id), await answer(stranger, id), await readAnswer(stranger, id)])
      expect(refusal).toEqual(refused(404, "not_found"));
    expect(await fill(stranger, id)).toEqual(refused(409, "id_taken"));
    expect((await read(phone, id)).body).toMatchObject({ message });
  });

  it("is filled once: the same again answers as the first time, anything else or anybody else is refused", async () => {
    const { laptop, phone, id, message, filled } = await twoDevices();
    clock = new Date(clock.getTime() + 60_000);
    expect((await fill(laptop, id, message)).body).toEqual(filled.body); // no minute more
    expect(await fill(laptop, id)).toEqual(refused(409, "id_taken"));
    expect(await fill(phone, id, message)).toEqual(refused(409, "id_taken"));
    expect((await read(phone, id)).body).toMatchObject({ message });
  });

  it("is answered once, the same again included, and never by the session that filled it", async () => {
    const { laptop, phone, id } = await twoDevices();
    expect(await answer(laptop, id)).toEqual(refused(403, "forbidden"));
    const text = letterOf(phone, id);
    for (let times = 0; times < 2; times++) expect((await answer(phone, id, text)).status).toBe(200);
    expect(await answer(phone, id)).toEqual(refused(409, "conflict"));
    expect(await answer(await service.signIn(laptop.subject), id)).toEqual(refused(409, "conflict"));
    expect((await readAnswer(laptop, id)).body).toMatchObject({ answer: text });
  });

  it("takes a renewed session of the same sign-in for the same device", async () => {
    const laptop = await sessionOf("renewed", "sign-in 1");
    const id = newPublicId();
    const message = letterOf(laptop, id);
    await fill(laptop, id, message);
    const renewed = await sessionOf("renewed", "sign-in 1");
    expect(await answer(renewed, id)).toEqual(refused(403, "forbidden"));
    expect((await fill(renewed, id, message)).status).toBe(200);
    expect((await readAnswer(renewed, id)).body).toMatchObject({ answer: null });
    expect((await answer(await sessionOf("renewed", "sign-in 2"), id)).status).toBe(200);
  });

  it("is gone after 5 minutes, and its row and its id with the next sweep", async () => {
    const { laptop, phone, id } = await twoDevices();
    const kept = await twoDevices();
    clock = new Date(clock.getTime() + deviceLinkMinutes * 60_000 - 1);
    expect((await read(phone, id)).status).toBe(200);
    clock = new Date(clock.getTime() + 1);
    for (const refusal of [await read(phone, id), await answer(phone, id), await readAnswer(laptop, id)])
      expect(refusal).toEqual(refused(404, "not_found"));
    expect(await fill(laptop, id)).toEqual(refused(409, "id_taken")); // a new code is asked for
    const { db } = service.app.services;
    await db
      .update(deviceLinks)
      .set({ expiresAt: new Date(clock.getTime() + 1) })
      .where(and(eq(deviceLinks.accountId, kept.laptop.userId), eq(deviceLinks.linkId, kept.id)));
    await service.app.sweep();
    expect((await db.select().from(deviceLinks)).map(({ linkId }) => linkId)).toEqual([kept.id]);
    expect((await db.select().from(publicIds)).map(({ publicId }) => publicId)).toEqual([kept.id]);
  });

  it("holds 16 KiB at most, sealed letters alone, under an id of 128 bits", async () => {
    const person = await service.signIn();
    const long = (length: number): string => `a..a.${"a".repeat(length - 7)}.a`;
    expect(await fill(person, newPublicId(), long(maxDeviceLinkLength + 1))).toEqual(refused(413, "payload_too_large"));
    expect(await fill(person, newPublicId(), "plain words")).toEqual(refused(422, "validation_error"));
    expect(await fill(person, "short")).toEqual(refused(422, "validation_error"));
    const { phone, id } = await twoDevices();
    expect(await answer(phone, id, long(maxDeviceLinkLength + 1))).toEqual(refused(413, "payload_too_large"));
    expect(await answer(phone, id, "plain words")).toEqual(refused(422, "validation_error"));
  });

  it("tells of its answer by one mail, and of nothing else", async () => {
    const { laptop, phone, id } = await twoDevices();
    await service.app.services.db
      .update(accounts)
      .set({ contactEmail: "ana@example.org", contactEmailVerified: true })
      .where(eq(accounts.id, laptop.userId));
    await read(phone, id);
    expect(await mailsOf(service)).toEqual([]);
    const text = letterOf(phone, id);
    await service.call("PUT", `/device-links/${id}/answer`, phone.token, {
      body: { answer: text },
      headers: { "accept-language": "es" },
    });
    await answer(phone, id, text);
    const mails = await mailsOf(service);
    expect(mails.map(({ to, subject }) => [to, subject])).toEqual([
      ["ana@example.org", "Otro dispositivo abre tus secretos de Relicario"],
    ]);
    expect(mails[0]?.text).toContain("quita la última llave de acceso");
    expect(mails[0]?.source).not.toContain(id);
  });

  it("is made so often and no oftener", async () => {
    const person = await service.signIn();
    const statuses: number[] = [];
    for (let count = 0; count < 21; count++) statuses.push((await fill(person, newPublicId())).status);
    expect(statuses.slice(0, 20)).toEqual(Array<number>(20).fill(200));
    expect(statuses[20]).toBe(429);
  });
});
