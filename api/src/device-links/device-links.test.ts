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

/** A new session of this person; with `sid` from that session of the provider. */
const createSession = async (subject: string, sid?: string): Promise<Person> => {
  const token = await service.issuer.createAccessToken(subject, { sid });
  const exchangeResponse = await service.call("POST", "/auth/token?app_vendor_id=relicario", null, { body: { token } });
  return createPerson(subject, String(exchangeResponse.body["token"]));
};

/** Two signed-in devices of one account, and a device link that the requester wrote. */
const createTwoDevices = async () => {
  const requester = await service.signIn();
  const responder = await service.signIn(requester.subject);
  const id = createPublicId();
  const message = buildMessage(requester, id);
  const fillResponse = await fillLink(requester, id, message);
  return {
    requester,
    responder,
    id,
    message,
    fillResponse,
    expiresAt: new Date(clock.getTime() + deviceLinkLifetimeMinutes * 60_000).toISOString(),
  };
};

describe("a device link", () => {
  it("is written by one device and read and answered by another; only the first reads the answer", async () => {
    const { requester, responder, id, message, fillResponse, expiresAt } = await createTwoDevices();
    expect(fillResponse).toMatchObject({ status: 200, body: { expires_at: expiresAt } });
    expect((await readAnswer(requester, id)).body).toEqual({ answer: null, expires_at: expiresAt });
    expect((await readLink(responder, id)).body).toEqual({ message, expires_at: expiresAt });
    const text = buildMessage(responder, id);
    expect((await answerLink(responder, id, text)).body).toEqual({ expires_at: expiresAt });
    expect((await readAnswer(requester, id)).body).toEqual({ answer: text, expires_at: expiresAt });
    expect(await readAnswer(responder, id)).toEqual(expectProblem(403, "forbidden"));
    expect(await readLink(requester, id)).toEqual(expectProblem(403, "forbidden"));
  });

  it("is hidden from another account, which cannot use its id", async () => {
    const { responder, id, message } = await createTwoDevices();
    const stranger = await service.signIn();
    for (const refusal of [
      await readLink(stranger, id),
      await answerLink(stranger, id),
      await readAnswer(stranger, id),
    ])
      expect(refusal).toEqual(expectProblem(404, "not_found"));
    expect(await fillLink(stranger, id)).toEqual(expectProblem(409, "id_taken"));
    expect((await readLink(responder, id)).body).toMatchObject({ message });
  });

  it("is written once: a repetition gets the first response, anything else is refused", async () => {
    const { requester, responder, id, message, fillResponse } = await createTwoDevices();
    clock = new Date(clock.getTime() + 60_000);
    expect((await fillLink(requester, id, message)).body).toEqual(fillResponse.body); // its expiry is not extended
    expect(await fillLink(requester, id)).toEqual(expectProblem(409, "id_taken"));
    expect(await fillLink(responder, id, message)).toEqual(expectProblem(409, "id_taken"));
    expect((await readLink(responder, id)).body).toMatchObject({ message });
  });

  it("takes one answer, which may be repeated, but none from the session that wrote the link", async () => {
    const { requester, responder, id } = await createTwoDevices();
    expect(await answerLink(requester, id)).toEqual(expectProblem(403, "forbidden"));
    const text = buildMessage(responder, id);
    for (let times = 0; times < 2; times++) expect((await answerLink(responder, id, text)).status).toBe(200);
    expect(await answerLink(responder, id)).toEqual(expectProblem(409, "conflict"));
    expect(await answerLink(await service.signIn(requester.subject), id)).toEqual(expectProblem(409, "conflict"));
    expect((await readAnswer(requester, id)).body).toMatchObject({ answer: text });
  });

  it("treats a renewed session of the same sign-in as the same device", async () => {
    const requester = await createSession("renewed", "sign-in 1");
    const id = createPublicId();
    const message = buildMessage(requester, id);
    await fillLink(requester, id, message);
    const renewedSession = await createSession("renewed", "sign-in 1");
    expect(await answerLink(renewedSession, id)).toEqual(expectProblem(403, "forbidden"));
    expect((await fillLink(renewedSession, id, message)).status).toBe(200);
    expect((await readAnswer(renewedSession, id)).body).toMatchObject({ answer: null });
    expect((await answerLink(await createSession("renewed", "sign-in 2"), id)).status).toBe(200);
  });

  it("expires after 5 minutes; the next sweep deletes its row and id", async () => {
    const { requester, responder, id } = await createTwoDevices();
    const otherDevices = await createTwoDevices();
    clock = new Date(clock.getTime() + deviceLinkLifetimeMinutes * 60_000 - 1);
    expect((await readLink(responder, id)).status).toBe(200);
    clock = new Date(clock.getTime() + 1);
    for (const refusal of [
      await readLink(responder, id),
      await answerLink(responder, id),
      await readAnswer(requester, id),
    ])
      expect(refusal).toEqual(expectProblem(404, "not_found"));
    expect(await fillLink(requester, id)).toEqual(expectProblem(409, "id_taken")); // a new device link needs a new id
    const { db } = service.app.services;
    await db
      .update(deviceLinks)
      .set({ expiresAt: new Date(clock.getTime() + 1) })
      .where(and(eq(deviceLinks.accountId, otherDevices.requester.userId), eq(deviceLinks.linkId, otherDevices.id)));
    await service.app.sweep();
    expect((await db.select().from(deviceLinks)).map(({ linkId }) => linkId)).toEqual([otherDevices.id]);
    expect((await db.select().from(publicIds)).map(({ publicId }) => publicId)).toEqual([otherDevices.id]);
  });

  it("takes at most 16 KiB, sealed messages only, and ids of 128 bits", async () => {
    const person = await service.signIn();
    const buildMessageOfLength = (length: number): string => `a..a.${"a".repeat(length - 7)}.a`;
    expect((await fillLink(person, createPublicId(), buildMessageOfLength(maxDeviceLinkLength))).status).toBe(200);
    expect(await fillLink(person, createPublicId(), buildMessageOfLength(maxDeviceLinkLength + 1))).toEqual(
      expectProblem(422, "validation_error"),
    );
    expect(await fillLink(person, createPublicId(), buildMessageOfLength(2 * maxDeviceLinkLength))).toEqual(
      expectProblem(413, "payload_too_large"),
    );
    expect(await fillLink(person, createPublicId(), "plain words")).toEqual(expectProblem(422, "validation_error"));
    expect(await fillLink(person, "short")).toEqual(expectProblem(422, "validation_error"));
    const { responder, id } = await createTwoDevices();
    expect(await answerLink(responder, id, buildMessageOfLength(maxDeviceLinkLength + 1))).toEqual(
      expectProblem(422, "validation_error"),
    );
    expect(await answerLink(responder, id, "plain words")).toEqual(expectProblem(422, "validation_error"));
  });

  it("sends one mail when it is answered, and no other", async () => {
    const { requester, responder, id } = await createTwoDevices();
    await service.app.services.db
      .update(accounts)
      .set({ contactEmail: "ana@example.org", contactEmailVerified: true })
      .where(eq(accounts.id, requester.userId));
    await readLink(responder, id);
    expect(await readMails(service)).toEqual([]);
    const text = buildMessage(responder, id);
    await service.call("PUT", `/device-links/${id}/answer`, responder.token, {
      body: { answer: text },
      headers: { "accept-language": "es" },
    });
    await answerLink(responder, id, text);
    const mails = await readMails(service);
    expect(mails.map(({ to, subject }) => [to, subject])).toEqual([
      ["ana@example.org", "Otro dispositivo ya puede abrir tus secretos de Relicario"],
    ]);
    expect(mails[0]?.text).toContain("quita la última llave de acceso");
    expect(mails[0]?.source).not.toContain(id);
  });

  it("is limited in number", async () => {
    const person = await service.signIn();
    const statuses: number[] = [];
    for (let count = 0; count < 21; count++) statuses.push((await fillLink(person, createPublicId())).status);
    expect(statuses.slice(0, 20)).toEqual(Array<number>(20).fill(200));
    expect(statuses[20]).toBe(429);
  });
});
