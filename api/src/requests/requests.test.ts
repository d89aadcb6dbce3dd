import {
  answerPath,
  CollectAnswerResponse,
  AnswerState,
  collectedAnswerRetentionDays,
  maxOpenRequests,
  RequestList,
  uploadExpiryHours,
} from "@relicario/shared/api";
import { sql } from "drizzle-orm";

import { accounts, answers, orphanedObjects, uploadParts } from "../db/schema.ts";
import { openFaultInjector } from "../testing/database-faults.ts";
import { readMails } from "../testing/outbox.ts";
import { buildChange, confirmChange, type Person } from "../testing/person.ts";
import { startService, type TestResponse, type TestService } from "../testing/service.ts";
import {
  answerRequest,
  startAnswer,
  buildChangeWithDocument,
  buildRequest,
  callOk,
  finishAnswer,
  formatDaysFromNow,
  createRequest,
  storeSecret,
  createPublicId,
  sendParts,
  type StartedAnswer,
} from "../testing/sharing.ts";
import { checkStoredContents } from "../testing/storage.ts";

let service: TestService;
let clock: Date;
beforeAll(async () => {
  clock = new Date();
  service = await startService({ RATE_LIMITS: JSON.stringify({ start_answer: 10_000 }) }, () => clock);
});
beforeEach(() => {
  clock = new Date();
});
afterAll(() => service.stop());

const advanceHours = (hours: number): void => {
  clock = new Date(clock.getTime() + hours * 3_600_000);
};
const createOwner = async (): Promise<Person> => {
  const owner = await service.signIn();
  await storeSecret(service, owner);
  return owner;
};
const createOwnerWithRequest = async (overrides: Parameters<typeof createRequest>[2] = {}) => {
  const owner = await createOwner();
  return { owner, request: await createRequest(service, owner, overrides) };
};
const listRequests = async (owner: Person, query = "?get_expired=true") =>
  RequestList.parse((await callOk(service, "GET", `/requests${query}`, owner.token)).body).requests;
const readRequest = ({ requestId, linkAuth }: { requestId: string; linkAuth: string }): Promise<TestResponse> =>
  service.call("POST", "/requests/get", null, { body: { request_id: requestId, link_auth: linkAuth } });
const changeRequest = async (
  method: "DELETE" | "PATCH",
  owner: Person,
  requestId: string,
  body: object = {},
): Promise<TestResponse> => {
  const keyring = buildChangeWithDocument(owner, "requests");
  const response = await service.call(method, `/requests/${requestId}`, owner.token, { body: { ...body, keyring } });
  if (response.status === 200) confirmChange(owner, keyring);
  return response;
};
const collectAnswer = (owner: Person, requestId: string): Promise<TestResponse> =>
  service.call("POST", "/requests/collect", owner.token, { body: { request_id: requestId } });
const download = async (owner: Person | null, token: string, headers: Readonly<Record<string, string>> = {}) =>
  service.app.http.inject({
    method: "POST",
    url: "/share/content",
    headers: { ...(owner === null ? {} : { authorization: `Bearer ${owner.token}` }), ...headers },
    payload: { token },
  });
const readAnswerState = (answer: StartedAnswer): Promise<TestResponse> =>
  service.call("GET", answerPath(answer.id), null, { headers: answer.headers });
const omitRequestId = ({ status, body: { request_id: _, ...body } }: TestResponse) => ({ status, body });
const unavailableResponse = {
  status: 404,
  body: { type: "about:blank", title: "Not found", status: 404, code: "request_unavailable" },
};

describe("a request", () => {
  it("is stored with its keyring change, and shown to the holder of the link any number of times", async () => {
    const owner = await createOwner();
    const request = buildRequest(owner);
    const firstResponse = await callOk(service, "POST", "/requests", owner.token, { body: request.body });
    expect(firstResponse.body).toEqual({ request_id: request.requestId, state_rev: 2 });
    expect((await callOk(service, "POST", "/requests", owner.token, { body: request.body })).body).toEqual(
      firstResponse.body,
    );
    for (let look = 0; look < 3; look++) {
      const { document, expires_at } = request.body;
      expect((await readRequest(request)).body).toEqual({
        document,
        state: "awaiting",
        max_size: 20_000_000,
        part_size: 8 * 1024 ** 2,
        expires_at,
      });
    }
    expect(await listRequests(owner)).toMatchObject([
      { request_id: request.requestId, state: "awaiting", size: null, provided_at: null, collected_at: null },
    ]);
    await checkStoredContents(service, owner);
  });

  it("is refused without the document of requests, before the first secret, and beyond 20 open requests; ended requests do not count", async () => {
    const { owner, request } = await createOwnerWithRequest();
    expect(
      await service.call("POST", "/requests", owner.token, {
        body: buildRequest(owner, { keyring: buildChange(owner) }).body,
      }),
    ).toMatchObject({ status: 422, body: { code: "keyring_change_invalid" } });
    const newPerson = await service.signIn();
    expect(
      await service.call("POST", "/requests", newPerson.token, { body: buildRequest(newPerson).body }),
    ).toMatchObject({
      status: 422,
      body: { code: "keyring_change_invalid" },
    });
    for (let count = 1; count < maxOpenRequests; count++) await createRequest(service, owner);
    expect(await service.call("POST", "/requests", owner.token, { body: buildRequest(owner).body })).toMatchObject({
      status: 409,
      body: { code: "limit_reached", limit: maxOpenRequests },
    });
    expect((await changeRequest("DELETE", owner, request.requestId)).status).toBe(200);
    expect((await service.call("POST", "/requests", owner.token, { body: buildRequest(owner).body })).status).toBe(200);
  });

  it("gives the same response when unknown, revoked, or called with another link's proof", async () => {
    const { owner, request } = await createOwnerWithRequest();
    await changeRequest("DELETE", owner, request.requestId);
    const secondRequest = await createRequest(service, owner);
    for (const wrongCredentials of [
      request,
      { ...request, requestId: createPublicId() },
      { ...secondRequest, linkAuth: "A".repeat(43) },
    ]) {
      expect(omitRequestId(await readRequest(wrongCredentials))).toEqual(unavailableResponse);
      expect(
        omitRequestId(
          await service.call("POST", "/requests/answer", null, {
            body: { request_id: wrongCredentials.requestId, link_auth: wrongCredentials.linkAuth, size: 10 },
          }),
        ),
      ).toEqual(unavailableResponse);
    }
    expect((await listRequests(owner)).map(({ state }) => state).sort()).toEqual(["awaiting", "revoked"]);
  });

  it("expires after 30 days at most, and then takes no new answer", async () => {
    const { owner, request } = await createOwnerWithRequest({ expires_at: formatDaysFromNow(2) });
    expect(
      (
        await service.call("POST", "/requests", owner.token, {
          body: buildRequest(owner, { expires_at: formatDaysFromNow(31) }).body,
        })
      ).status,
    ).toBe(422);
    advanceHours(49);
    expect((await readRequest(request)).body).toMatchObject({ state: "expired" });
    expect(
      omitRequestId(
        await service.call("POST", "/requests/answer", null, {
          body: { request_id: request.requestId, link_auth: request.linkAuth, size: 10 },
        }),
      ),
    ).toEqual(unavailableResponse);
    expect(await listRequests(owner, "")).toEqual([]);
    expect(await listRequests(owner)).toMatchObject([{ state: "expired" }]);
    advanceHours(30 * 24);
    await service.app.sweep();
    expect(omitRequestId(await readRequest(request))).toEqual(unavailableResponse);
    await checkStoredContents(service, owner);
  });
});

describe("an answer", () => {
  it("arrives in parts, in any order, and is read by the owner any number of times, also in ranges", async () => {
    const { owner, request } = await createOwnerWithRequest();
    const answer = await startAnswer(service, request, 9 * 1024 ** 2);
    expect(await finishAnswer(service, answer)).toMatchObject({
      status: 409,
      body: { code: "upload_incomplete", missing: [1, 2] },
    });
    for (const part of [2, 1, 2])
      await callOk(service, "POST", answerPath(answer.id), null, await answer.buildPartForm(part));
    expect(AnswerState.parse((await readAnswerState(answer)).body)).toMatchObject({
      answer_id: answer.id,
      parts: 2,
      finished: false,
      received: [{ part: 1 }, { part: 2 }],
    });
    expect(await finishAnswer(service, answer, { ...answer.finishBody, content_sha256: "A".repeat(43) })).toMatchObject(
      {
        status: 422,
        body: { code: "digest_mismatch" },
      },
    );
    expect(await collectAnswer(owner, request.requestId)).toMatchObject({ status: 404, body: { code: "not_found" } });
    const finishResponse = await finishAnswer(service, answer);
    expect(finishResponse).toMatchObject({ status: 200, body: { provided_at: clock.toISOString() } });
    expect(await listRequests(owner)).toMatchObject([{ state: "provided", size: answer.content.length }]);
    for (let reads = 0; reads < 2; reads++) {
      const { ticket, download: grantedDownload } = CollectAnswerResponse.parse(
        (await collectAnswer(owner, request.requestId)).body,
      );
      expect([ticket, grantedDownload.size]).toEqual([answer.finishBody.ticket, answer.content.length]);
      expect((await download(owner, grantedDownload.token)).rawPayload.equals(answer.content)).toBe(true);
      const rangeResponse = await download(owner, grantedDownload.token, { range: "bytes=8388600-8388700" });
      expect([
        rangeResponse.statusCode,
        rangeResponse.rawPayload.equals(answer.content.subarray(8_388_600, 8_388_701)),
      ]).toEqual([206, true]);
      for (const stranger of [null, await service.signIn()])
        expect((await download(stranger, grantedDownload.token)).statusCode).toBe(404);
    }
    expect(await listRequests(owner)).toMatchObject([{ state: "provided" }]);
  });

  it("accepts no part and no finishing call without its token, or with another answer's token", async () => {
    const { request } = await createOwnerWithRequest();
    const [firstAnswer, secondAnswer] = [await startAnswer(service, request), await startAnswer(service, request)];
    for (const headers of [{}, secondAnswer.headers, { "x-answer-token": "x" }]) {
      expect((await service.call("GET", answerPath(firstAnswer.id), null, { headers })).status).toBe(404);
      expect(
        (await service.call("PUT", answerPath(firstAnswer.id), null, { headers, body: firstAnswer.finishBody })).status,
      ).toBe(404);
      const form = await firstAnswer.buildPartForm(1);
      expect(
        (
          await service.call("POST", answerPath(firstAnswer.id), null, {
            ...form,
            headers: { "content-type": form.headers["content-type"] ?? "", ...headers },
          })
        ).status,
      ).toBe(404);
    }
  });

  it("wins when finished first; its repeated finish gets the first response, another answer's gets request_closed", async () => {
    const { owner, request } = await createOwnerWithRequest();
    const competingAnswers = [await startAnswer(service, request), await startAnswer(service, request)] as const;
    for (const answer of competingAnswers) await sendParts(service, answer);
    const finishResponses = await Promise.all(
      competingAnswers.flatMap((answer) => [finishAnswer(service, answer), finishAnswer(service, answer)]),
    );
    const codes = finishResponses.map(({ status, body }) => (status === 200 ? 200 : body.code));
    expect(codes.filter((code) => code === 200)).toHaveLength(2);
    expect(codes.filter((code) => code === "request_closed")).toHaveLength(2);
    const winner = codes[0] === 200 ? competingAnswers[0] : competingAnswers[1];
    const loser = winner === competingAnswers[0] ? competingAnswers[1] : competingAnswers[0];
    expect(CollectAnswerResponse.parse((await collectAnswer(owner, request.requestId)).body).ticket).toBe(
      winner.finishBody.ticket,
    );
    expect((await finishAnswer(service, winner)).body).toEqual(
      finishResponses.find(({ status }) => status === 200)?.body,
    );
    expect(await finishAnswer(service, winner, { ...winner.finishBody, ticket: "AAAA" })).toMatchObject({
      status: 409,
      body: { code: "request_closed" },
    });
    for (const answer of [
      await finishAnswer(service, loser),
      await readAnswerState(loser),
      await service.call("POST", answerPath(loser.id), null, await loser.buildPartForm(1)),
    ]) {
      expect(answer).toMatchObject({ status: 409, body: { code: "request_closed" } });
    }
    expect(
      await service.call("POST", "/requests/answer", null, {
        body: { request_id: request.requestId, link_auth: request.linkAuth, size: 10 },
      }),
    ).toMatchObject({ status: 409, body: { code: "request_closed" } });
    expect(await checkStoredContents(service, owner)).toBe(700 + winner.content.length);
  });

  it("is charged to the owner's quota part by part, up to the requested size; two answers may be unfinished", async () => {
    const { owner, request } = await createOwnerWithRequest({ max_size: 10_000 });
    expect(
      await service.call("POST", "/requests/answer", null, {
        body: { request_id: request.requestId, link_auth: request.linkAuth, size: 10_001 },
      }),
    ).toMatchObject({ status: 413, body: { code: "payload_too_large", limit: 10_000 } });
    const firstAnswer = await startAnswer(service, request, 1_000);
    advanceHours(0.1);
    const secondAnswer = await startAnswer(service, request, 2_000);
    expect(await checkStoredContents(service, owner)).toBe(700); // a link reserves nothing
    advanceHours(0.1);
    await sendParts(service, firstAnswer); // later than the second
    expect(await checkStoredContents(service, owner)).toBe(700 + 1_000);
    const thirdAnswer = await startAnswer(service, request, 4_000);
    expect((await readAnswerState(secondAnswer)).status).toBe(404);
    expect([(await readAnswerState(firstAnswer)).status, (await readAnswerState(thirdAnswer)).status]).toEqual([
      200, 200,
    ]);
    expect(await checkStoredContents(service, owner)).toBe(700 + 1_000);
    await service.app.services.db.execute(
      sql`update accounts set storage_used = storage_used + 10737418240 where id = ${owner.userId}`,
    );
    await expect(sendParts(service, thirdAnswer)).rejects.toThrow("quota_exceeded");
    expect(
      await service.call("POST", "/requests/answer", null, {
        body: { request_id: request.requestId, link_auth: request.linkAuth, size: 10 },
      }),
    ).toMatchObject({ status: 413, body: { code: "quota_exceeded" } });
  });

  it("is deleted a day after its last part, with its objects; an answer that was started before the request expired may be finished later", async () => {
    const { owner, request } = await createOwnerWithRequest({ expires_at: formatDaysFromNow(1) });
    const [abandonedAnswer, lateAnswer] = [await startAnswer(service, request), await startAnswer(service, request)];
    await sendParts(service, abandonedAnswer);
    advanceHours(uploadExpiryHours - 1);
    await sendParts(service, lateAnswer);
    advanceHours(2);
    expect((await readAnswerState(abandonedAnswer)).status).toBe(404);
    await service.app.sweep();
    const { db } = service.app.services;
    expect(
      await db
        .select({ id: answers.id })
        .from(answers)
        .where(sql`${answers.accountId} = ${owner.userId}`),
    ).toEqual([{ id: lateAnswer.id }]);
    expect(
      await db
        .select({ id: uploadParts.uploadId })
        .from(uploadParts)
        .where(sql`${uploadParts.accountId} = ${owner.userId}`),
    ).toEqual([{ id: lateAnswer.id }]);
    expect(
      await db
        .select()
        .from(orphanedObjects)
        .where(sql`${orphanedObjects.accountId} = ${owner.userId}`),
    ).toEqual([]);
    expect(await listRequests(owner)).toMatchObject([{ state: "expired" }]);
    expect((await finishAnswer(service, lateAnswer)).status).toBe(200);
    expect(await listRequests(owner)).toMatchObject([{ state: "provided" }]);
    expect(await checkStoredContents(service, owner)).toBe(700 + lateAnswer.content.length);
  });

  it("is limited per hour; callers who know only the request's id use up only their own limit", async () => {
    const limitedService = await startService(
      { RATE_LIMITS: JSON.stringify({ start_answer: 3, answers_of_request: 2 }) },
      () => clock,
    );
    try {
      const owner = await limitedService.signIn();
      await storeSecret(limitedService, owner);
      const { requestId, linkAuth } = await createRequest(limitedService, owner);
      const startAnswerStatus = async (linkAuthValue: string, remoteAddress: string) =>
        (
          await limitedService.call("POST", "/requests/answer", null, {
            body: { request_id: requestId, link_auth: linkAuthValue, size: 10 },
            remoteAddress,
          })
        ).status;
      for (const status of [404, 404, 404, 429])
        expect(await startAnswerStatus("A".repeat(43), "192.0.2.1")).toBe(status);
      for (const status of [200, 200, 429]) expect(await startAnswerStatus(linkAuth, "192.0.2.2")).toBe(status);
    } finally {
      await limitedService.stop();
    }
  });

  it.each([
    ["the owner's account is", "locked_at = now()", "locked_at = null"],
    ["the owner's vendor is", "vendor_id = 'closed'", "vendor_id = 'relicario'"],
  ])("takes no part and no finish while %s closed, and continues afterwards", async (_, closeSql, reopenSql) => {
    const { owner, request } = await createOwnerWithRequest();
    const { db } = service.app.services;
    const updateAccount = (assignment: string) =>
      db.execute(`update accounts set ${assignment} where id = '${owner.userId}'`);
    const [startedAnswer, completeAnswer, finishedAnswer] = [
      await startAnswer(service, request),
      await startAnswer(service, request),
      await answerRequest(service, await createRequest(service, owner)),
    ];
    await sendParts(service, completeAnswer);
    await updateAccount(closeSql);
    const calls = [
      service.call("POST", answerPath(startedAnswer.id), null, await startedAnswer.buildPartForm(1)),
      readAnswerState(startedAnswer),
      finishAnswer(service, completeAnswer),
      finishAnswer(service, finishedAnswer),
    ];
    for (const answer of await Promise.all(calls)) expect(omitRequestId(answer)).toEqual(unavailableResponse);
    expect(
      await db
        .select({ part: uploadParts.part })
        .from(uploadParts)
        .where(sql`${uploadParts.uploadId} = ${startedAnswer.id}`),
    ).toEqual([]);
    await updateAccount(reopenSql);
    await sendParts(service, startedAnswer);
    for (const answer of [completeAnswer, finishedAnswer])
      expect((await finishAnswer(service, answer)).status).toBe(200);
    expect((await listRequests(owner)).map(({ state }) => state)).toEqual(["provided", "provided"]);
  });

  it("discards a part under way when the owner's account was locked", async () => {
    const { owner, request } = await createOwnerWithRequest();
    const answer = await startAnswer(service, request);
    const faultInjector = await openFaultInjector(service.database.url);
    try {
      await faultInjector.query("begin");
      await faultInjector.query(`update accounts set locked_at = now() where id = '${owner.userId}'`);
      const part = service.call("POST", answerPath(answer.id), null, await answer.buildPartForm(1));
      await faultInjector.waitForBlocked(1); // all of it has arrived; only its row is missing
      await faultInjector.query("commit");
      expect(omitRequestId(await part)).toEqual(unavailableResponse);
    } finally {
      await faultInjector.close();
    }
  });

  it("is refused once its request is revoked", async () => {
    const { owner, request } = await createOwnerWithRequest();
    const answer = await startAnswer(service, request);
    expect((await changeRequest("DELETE", owner, request.requestId)).status).toBe(200);
    expect(await service.call("POST", answerPath(answer.id), null, await answer.buildPartForm(1))).toMatchObject({
      status: 409,
      body: { code: "request_closed" },
    });
    expect(await checkStoredContents(service, owner)).toBe(700);
  });
});

describe("a stored answer", () => {
  it("is dropped seven days after it was collected; the request stays", async () => {
    const { owner, request } = await createOwnerWithRequest();
    const answer = await answerRequest(service, request);
    expect((await changeRequest("PATCH", owner, request.requestId, { state: "collected" })).status).toBe(200);
    expect(await listRequests(owner)).toMatchObject([
      { state: "collected", size: answer.content.length, collected_at: clock.toISOString() },
    ]);
    advanceHours((collectedAnswerRetentionDays - 1) * 24);
    await service.app.sweep();
    expect((await collectAnswer(owner, request.requestId)).status).toBe(200);
    advanceHours(25);
    await service.app.sweep();
    expect(await collectAnswer(owner, request.requestId)).toMatchObject({
      status: 410,
      body: { code: "content_gone" },
    });
    expect(await listRequests(owner)).toMatchObject([{ state: "collected", size: null }]);
    expect(await checkStoredContents(service, owner)).toBe(700);
  });

  it("stays until collected, and can be dropped at once by the request's owner", async () => {
    const { owner, request } = await createOwnerWithRequest();
    await answerRequest(service, request);
    advanceHours(60 * 24);
    await service.app.sweep();
    const { download: grantedDownload } = CollectAnswerResponse.parse(
      (await collectAnswer(owner, request.requestId)).body,
    );
    await changeRequest("PATCH", owner, request.requestId, { state: "collected" });
    expect((await changeRequest("DELETE", owner, request.requestId)).status).toBe(200);
    expect((await download(owner, grantedDownload.token)).statusCode).toBe(404);
    expect(await listRequests(owner)).toMatchObject([{ state: "collected", size: null }]);
    expect(await checkStoredContents(service, owner)).toBe(700);
  });

  it("cannot be marked as collected before it arrived, or by a change without the document", async () => {
    const { owner, request } = await createOwnerWithRequest();
    expect(await changeRequest("PATCH", owner, request.requestId, { state: "collected" })).toMatchObject({
      status: 409,
      body: { code: "conflict" },
    });
    expect(
      await service.call("PATCH", `/requests/${request.requestId}`, owner.token, {
        body: { state: "collected", keyring: buildChange(owner) },
      }),
    ).toMatchObject({ status: 422 });
    expect((await changeRequest("PATCH", owner, createPublicId(), { state: "collected" })).status).toBe(404);
  });

  it("is announced by mail if the owner wants it, without its content", async () => {
    const owner = await createOwner();
    await service.app.services.db
      .update(accounts)
      .set({ contactEmail: "asked@example.org", contactEmailVerified: true })
      .where(sql`${accounts.id} = ${owner.userId}`);
    const [notifyingRequest, silentRequest] = [
      await createRequest(service, owner, { notify: true }),
      await createRequest(service, owner),
    ];
    for (const request of [notifyingRequest, silentRequest]) await answerRequest(service, request);
    const mails = (await readMails(service)).filter(
      ({ to, subject }) => to === "asked@example.org" && subject === "Someone answered your request in Relicario",
    );
    expect(mails).toHaveLength(1);
    expect(mails[0]?.text).not.toContain(notifyingRequest.requestId);
  });
});
