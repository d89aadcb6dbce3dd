import {
  answerPath,
  AnswerCollected,
  AnswerState,
  collectedDays,
  maxOpenRequests,
  RequestList,
  uploadHours,
} from "@relicario/shared/api";
import { sql } from "drizzle-orm";

import { accounts, answers, looseObjects, uploadParts } from "../db/schema.ts";
import { openSaboteur } from "../testing/database-faults.ts";
import { mailsOf } from "../testing/outbox.ts";
import { buildChange, confirm, type Person } from "../testing/person.ts";
import { startService, type Answer, type TestService } from "../testing/service.ts";
import {
  answerRequest,
  beginAnswer,
  buildChangeWith,
  buildRequest,
  done,
  finishOf,
  inDays,
  keepRequest,
  keepSecret,
  newPublicId,
  sendParts,
  type BuiltAnswer,
} from "../testing/sharing.ts";
import { contentsOf } from "../testing/storage.ts";

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

const later = (hours: number): void => {
  clock = new Date(clock.getTime() + hours * 3_600_000);
};
const somebody = async (): Promise<Person> => {
  const owner = await service.signIn();
  await keepSecret(service, owner);
  return owner;
};
const asked = async (more: Parameters<typeof keepRequest>[2] = {}) => {
  const owner = await somebody();
  return { owner, request: await keepRequest(service, owner, more) };
};
const listed = async (owner: Person, query = "?get_expired=true") =>
  RequestList.parse((await done(service, "GET", `/requests${query}`, owner.token)).body).requests;
const look = ({ requestId, linkAuth }: { requestId: string; linkAuth: string }): Promise<Answer> =>
  service.call("POST", "/requests/get", null, { body: { request_id: requestId, link_auth: linkAuth } });
const change = async (
  method: "DELETE" | "PATCH",
  owner: Person,
  requestId: string,
  body: object = {},
): Promise<Answer> => {
  const keyring = buildChangeWith(owner, "requests");
  const answer = await service.call(method, `/requests/${requestId}`, owner.token, { body: { ...body, keyring } });
  if (answer.status === 200) confirm(owner, keyring);
  return answer;
};
const collect = (owner: Person, requestId: string): Promise<Answer> =>
  service.call("POST", "/requests/collect", owner.token, { body: { request_id: requestId } });
const download = async (owner: Person | null, token: string, headers: Readonly<Record<string, string>> = {}) =>
  service.app.http.inject({
    method: "POST",
    url: "/share/content",
    headers: { ...(owner === null ? {} : { authorization: `Bearer ${owner.token}` }), ...headers },
    payload: { token },
  });
const stateOfAnswer = (answer: BuiltAnswer): Promise<Answer> =>
  service.call("GET", answerPath(answer.id), null, { headers: answer.headers });
const plain = ({ status, body: { request_id: _, ...body } }: Answer) => ({ status, body });
const unavailable = {
  status: 404,
  body: { type: "about:blank", title: "Not found", status: 404, code: "request_unavailable" },
};

describe("a request", () => {
  it("is kept with its keyring change in one, and shown to whoever has the link as often as they look", async () => {
    const owner = await somebody();
    const request = buildRequest(owner);
    const first = await done(service, "POST", "/requests", owner.token, { body: request.body });
    expect(first.body).toEqual({ request_id: request.requestId, state_rev: 2 });
    expect((await done(service, "POST", "/requests", owner.token, { body: request.body })).body).toEqual(first.body);
    for (let looks = 0; looks < 3; looks++) {
      const { document, expires_at } = request.body;
      expect((await look(request)).body).toEqual({
        document,
        state: "awaiting",
        max_size: 20_000_000,
        part_size: 8 * 1024 ** 2,
        expires_at,
      });
    }
    expect(await listed(owner)).toMatchObject([
      { request_id: request.requestId, state: "awaiting", size: null, provided_at: null, collected_at: null },
    ]);
    await contentsOf(service, owner);
  });

  it("is refused without the document of requests, before the first secret, and where 20 are open; what is over makes room", async () => {
    const { owner, request } = await asked();
    expect(
      await service.call("POST", "/requests", owner.token, {
        body: buildRequest(owner, { keyring: buildChange(owner) }).body,
      }),
    ).toMatchObject({ status: 422, body: { code: "keyring_change_invalid" } });
    const bare = await service.signIn();
    expect(await service.call("POST", "/requests", bare.token, { body: buildRequest(bare).body })).toMatchObject({
      status: 422,
      body: { code: "keyring_change_invalid" },
    });
    for (let count = 1; count < maxOpenRequests; count++) await keepRequest(service, owner);
    expect(await service.call("POST", "/requests", owner.token, { body: buildRequest(owner).body })).toMatchObject({
      status: 409,
      body: { code: "limit_reached", limit: maxOpenRequests },
    });
    expect((await change("DELETE", owner, request.requestId)).status).toBe(200);
    expect((await service.call("POST", "/requests", owner.token, { body: buildRequest(owner).body })).status).toBe(200);
  });

  it("that is unknown, revoked, or asked for with another link is one answer", async () => {
    const { owner, request } = await asked();
    await change("DELETE", owner, request.requestId);
    const second = await keepRequest(service, owner);
    for (const wrong of [request, { ...request, requestId: newPublicId() }, { ...second, linkAuth: "A".repeat(43) }]) {
      expect(plain(await look(wrong))).toEqual(unavailable);
      expect(
        plain(
          await service.call("POST", "/requests/answer", null, {
            body: { request_id: wrong.requestId, link_auth: wrong.linkAuth, size: 10 },
          }),
        ),
      ).toEqual(unavailable);
    }
    expect((await listed(owner)).map(({ state }) => state).sort()).toEqual(["awaiting", "revoked"]);
  });

  it("has a time of 30 days at most, and takes no new answer after it", async () => {
    const { owner, request } = await asked({ expires_at: inDays(2) });
    expect(
      (
        await service.call("POST", "/requests", owner.token, {
          body: buildRequest(owner, { expires_at: inDays(31) }).body,
        })
      ).status,
    ).toBe(422);
    later(49);
    expect((await look(request)).body).toMatchObject({ state: "expired" });
    expect(
      plain(
        await service.call("POST", "/requests/answer", null, {
          body: { request_id: request.requestId, link_auth: request.linkAuth, size: 10 },
        }),
      ),
    ).toEqual(unavailable);
    expect(await listed(owner, "")).toEqual([]);
    expect(await listed(owner)).toMatchObject([{ state: "expired" }]);
    later(30 * 24);
    await service.app.sweep();
    expect(plain(await look(request))).toEqual(unavailable);
    await contentsOf(service, owner);
  });
});

describe("an answer", () => {
  it("comes in parts, in any order, and is the owner's to read as often as they like; a range of it, too", async () => {
    const { owner, request } = await asked();
    const answer = await beginAnswer(service, request, 9 * 1024 ** 2);
    expect(await finishOf(service, answer)).toMatchObject({
      status: 409,
      body: { code: "upload_incomplete", missing: [1, 2] },
    });
    for (const part of [2, 1, 2]) await done(service, "POST", answerPath(answer.id), null, await answer.part(part));
    expect(AnswerState.parse((await stateOfAnswer(answer)).body)).toMatchObject({
      answer_id: answer.id,
      parts: 2,
      finished: false,
      received: [{ part: 1 }, { part: 2 }],
    });
    expect(await finishOf(service, answer, { ...answer.finish, content_sha256: "A".repeat(43) })).toMatchObject({
      status: 422,
      body: { code: "digest_mismatch" },
    });
    expect(await collect(owner, request.requestId)).toMatchObject({ status: 404, body: { code: "not_found" } });
    const finished = await finishOf(service, answer);
    expect(finished).toMatchObject({ status: 200, body: { provided_at: clock.toISOString() } });
    expect(await listed(owner)).toMatchObject([{ state: "provided", size: answer.content.length }]);
    for (let reads = 0; reads < 2; reads++) {
      const { ticket, download: given } = AnswerCollected.parse((await collect(owner, request.requestId)).body);
      expect([ticket, given.size]).toEqual([answer.finish.ticket, answer.content.length]);
      expect((await download(owner, given.token)).rawPayload.equals(answer.content)).toBe(true);
      const range = await download(owner, given.token, { range: "bytes=8388600-8388700" });
      expect([range.statusCode, range.rawPayload.equals(answer.content.subarray(8_388_600, 8_388_701))]).toEqual([
        206,
        true,
      ]);
      for (const other of [null, await service.signIn()])
        expect((await download(other, given.token)).statusCode).toBe(404);
    }
    expect(await listed(owner)).toMatchObject([{ state: "provided" }]);
  });

  it("takes no part and no finish without its token, or with that of another answer", async () => {
    const { request } = await asked();
    const [one, other] = [await beginAnswer(service, request), await beginAnswer(service, request)];
    for (const headers of [{}, other.headers, { "x-answer-token": "x" }]) {
      expect((await service.call("GET", answerPath(one.id), null, { headers })).status).toBe(404);
      expect((await service.call("PUT", answerPath(one.id), null, { headers, body: one.finish })).status).toBe(404);
      const form = await one.part(1);
      expect(
        (
          await service.call("POST", answerPath(one.id), null, {
            ...form,
            headers: { "content-type": form.headers["content-type"] ?? "", ...headers },
          })
        ).status,
      ).toBe(404);
    }
  });

  it("that is finished first wins, by one statement; the same finish answers as the first, another gets request_closed", async () => {
    const { owner, request } = await asked();
    const two = [await beginAnswer(service, request), await beginAnswer(service, request)] as const;
    for (const answer of two) await sendParts(service, answer);
    const finishes = await Promise.all(two.flatMap((answer) => [finishOf(service, answer), finishOf(service, answer)]));
    const codes = finishes.map(({ status, body }) => (status === 200 ? 200 : body.code));
    expect(codes.filter((code) => code === 200)).toHaveLength(2);
    expect(codes.filter((code) => code === "request_closed")).toHaveLength(2);
    const winner = codes[0] === 200 ? two[0] : two[1];
    const loser = winner === two[0] ? two[1] : two[0];
    expect(AnswerCollected.parse((await collect(owner, request.requestId)).body).ticket).toBe(winner.finish.ticket);
    expect((await finishOf(service, winner)).body).toEqual(finishes.find(({ status }) => status === 200)?.body);
    expect(await finishOf(service, winner, { ...winner.finish, ticket: "AAAA" })).toMatchObject({
      status: 409,
      body: { code: "request_closed" },
    });
    for (const answer of [
      await finishOf(service, loser),
      await stateOfAnswer(loser),
      await service.call("POST", answerPath(loser.id), null, await loser.part(1)),
    ]) {
      expect(answer).toMatchObject({ status: 409, body: { code: "request_closed" } });
    }
    expect(
      await service.call("POST", "/requests/answer", null, {
        body: { request_id: request.requestId, link_auth: request.linkAuth, size: 10 },
      }),
    ).toMatchObject({ status: 409, body: { code: "request_closed" } });
    expect(await contentsOf(service, owner)).toBe(700 + winner.content.length);
  });

  it("counts against the owner's quota from its start, within the size that was asked for; two at most are under way", async () => {
    const { owner, request } = await asked({ max_size: 10_000 });
    expect(
      await service.call("POST", "/requests/answer", null, {
        body: { request_id: request.requestId, link_auth: request.linkAuth, size: 10_001 },
      }),
    ).toMatchObject({ status: 413, body: { code: "payload_too_large", limit: 10_000 } });
    const first = await beginAnswer(service, request, 1_000);
    later(0.1);
    const second = await beginAnswer(service, request, 2_000);
    expect(await contentsOf(service, owner)).toBe(700 + 3_000);
    later(0.1);
    await sendParts(service, first); // touched later than the second
    const third = await beginAnswer(service, request, 4_000);
    expect((await stateOfAnswer(second)).status).toBe(404);
    expect([(await stateOfAnswer(first)).status, (await stateOfAnswer(third)).status]).toEqual([200, 200]);
    expect(await contentsOf(service, owner)).toBe(700 + 5_000);
    await service.app.services.db.execute(
      sql`update accounts set storage_used = storage_used + 10737418240 where id = ${owner.userId}`,
    );
    expect(
      await service.call("POST", "/requests/answer", null, {
        body: { request_id: request.requestId, link_auth: request.linkAuth, size: 10 },
      }),
    ).toMatchObject({ status: 413, body: { code: "quota_exceeded" } });
  });

  it("goes a day after its last part, with its objects; one that was begun before the request expired may be finished after it", async () => {
    const { owner, request } = await asked({ expires_at: inDays(1) });
    const [left, late] = [await beginAnswer(service, request), await beginAnswer(service, request)];
    await sendParts(service, left);
    later(uploadHours - 1);
    await sendParts(service, late);
    later(2);
    expect((await stateOfAnswer(left)).status).toBe(404);
    await service.app.sweep();
    const { db } = service.app.services;
    expect(
      await db
        .select({ id: answers.id })
        .from(answers)
        .where(sql`${answers.accountId} = ${owner.userId}`),
    ).toEqual([{ id: late.id }]);
    expect(
      await db
        .select({ id: uploadParts.uploadId })
        .from(uploadParts)
        .where(sql`${uploadParts.accountId} = ${owner.userId}`),
    ).toEqual([{ id: late.id }]);
    expect(
      await db
        .select()
        .from(looseObjects)
        .where(sql`${looseObjects.accountId} = ${owner.userId}`),
    ).toEqual([]);
    expect(await listed(owner)).toMatchObject([{ state: "expired" }]);
    expect((await finishOf(service, late)).status).toBe(200);
    expect(await listed(owner)).toMatchObject([{ state: "provided" }]);
    expect(await contentsOf(service, owner)).toBe(700 + late.content.length);
  });

  it("is begun so often an hour, and by whoever has the request's id alone not at all: they use up their own address", async () => {
    const strict = await startService(
      { RATE_LIMITS: JSON.stringify({ start_answer: 3, answers_of_request: 2 }) },
      () => clock,
    );
    try {
      const owner = await strict.signIn();
      await keepSecret(strict, owner);
      const { requestId, linkAuth } = await keepRequest(strict, owner);
      const begun = async (proof: string, remoteAddress: string) =>
        (
          await strict.call("POST", "/requests/answer", null, {
            body: { request_id: requestId, link_auth: proof, size: 10 },
            remoteAddress,
          })
        ).status;
      for (const status of [404, 404, 404, 429]) expect(await begun("A".repeat(43), "192.0.2.1")).toBe(status);
      for (const status of [200, 200, 429]) expect(await begun(linkAuth, "192.0.2.2")).toBe(status);
    } finally {
      await strict.stop();
    }
  });

  it.each([
    ["the owner's account is", "locked_at = now()", "locked_at = null"],
    ["the owner's vendor is", "vendor_id = 'closed'", "vendor_id = 'relicario'"],
  ])("takes no part and no finish while %s closed, and goes on afterwards", async (_, close, openAgain) => {
    const { owner, request } = await asked();
    const { db } = service.app.services;
    const set = (what: string) => db.execute(`update accounts set ${what} where id = '${owner.userId}'`);
    const [begun, sent, taken] = [
      await beginAnswer(service, request),
      await beginAnswer(service, request),
      await answerRequest(service, await keepRequest(service, owner)),
    ];
    await sendParts(service, sent);
    await set(close);
    const calls = [
      service.call("POST", answerPath(begun.id), null, await begun.part(1)),
      stateOfAnswer(begun),
      finishOf(service, sent),
      finishOf(service, taken),
    ];
    for (const answer of await Promise.all(calls)) expect(plain(answer)).toEqual(unavailable);
    expect(
      await db
        .select({ part: uploadParts.part })
        .from(uploadParts)
        .where(sql`${uploadParts.uploadId} = ${begun.id}`),
    ).toEqual([]);
    await set(openAgain);
    await sendParts(service, begun);
    for (const answer of [sent, taken]) expect((await finishOf(service, answer)).status).toBe(200);
    expect((await listed(owner)).map(({ state }) => state)).toEqual(["provided", "provided"]);
  });

  it("takes no part that was on its way when the owner's account was closed", async () => {
    const { owner, request } = await asked();
    const answer = await beginAnswer(service, request);
    const operator = await openSaboteur(service.database.url);
    try {
      await operator.query("begin");
      await operator.query(`update accounts set locked_at = now() where id = '${owner.userId}'`);
      const part = service.call("POST", answerPath(answer.id), null, await answer.part(1));
      await operator.waiting(1); // all of it came; its row is to be written
      await operator.query("commit");
      expect(plain(await part)).toEqual(unavailable);
    } finally {
      await operator.close();
    }
  });

  it("is no longer taken once its request was revoked", async () => {
    const { owner, request } = await asked();
    const answer = await beginAnswer(service, request);
    expect((await change("DELETE", owner, request.requestId)).status).toBe(200);
    expect(await service.call("POST", answerPath(answer.id), null, await answer.part(1))).toMatchObject({
      status: 409,
      body: { code: "request_closed" },
    });
    expect(await contentsOf(service, owner)).toBe(700);
  });
});

describe("what came", () => {
  it("goes seven days after it was collected; the line stays", async () => {
    const { owner, request } = await asked();
    const answer = await answerRequest(service, request);
    expect((await change("PATCH", owner, request.requestId, { state: "collected" })).status).toBe(200);
    expect(await listed(owner)).toMatchObject([
      { state: "collected", size: answer.content.length, collected_at: clock.toISOString() },
    ]);
    later((collectedDays - 1) * 24);
    await service.app.sweep();
    expect((await collect(owner, request.requestId)).status).toBe(200);
    later(25);
    await service.app.sweep();
    expect(await collect(owner, request.requestId)).toMatchObject({ status: 410, body: { code: "content_gone" } });
    expect(await listed(owner)).toMatchObject([{ state: "collected", size: null }]);
    expect(await contentsOf(service, owner)).toBe(700);
  });

  it("stays until it is collected, and goes at once when its owner says so", async () => {
    const { owner, request } = await asked();
    await answerRequest(service, request);
    later(60 * 24);
    await service.app.sweep();
    const { download: given } = AnswerCollected.parse((await collect(owner, request.requestId)).body);
    await change("PATCH", owner, request.requestId, { state: "collected" });
    expect((await change("DELETE", owner, request.requestId)).status).toBe(200);
    expect((await download(owner, given.token)).statusCode).toBe(404);
    expect(await listed(owner)).toMatchObject([{ state: "collected", size: null }]);
    expect(await contentsOf(service, owner)).toBe(700);
  });

  it("cannot be called collected before it came, or by a change without the document", async () => {
    const { owner, request } = await asked();
    expect(await change("PATCH", owner, request.requestId, { state: "collected" })).toMatchObject({
      status: 409,
      body: { code: "conflict" },
    });
    expect(
      await service.call("PATCH", `/requests/${request.requestId}`, owner.token, {
        body: { state: "collected", keyring: buildChange(owner) },
      }),
    ).toMatchObject({ status: 422 });
    expect((await change("PATCH", owner, newPublicId(), { state: "collected" })).status).toBe(404);
  });

  it("is told by mail where the owner wanted it, without a word of what it is", async () => {
    const owner = await somebody();
    await service.app.services.db
      .update(accounts)
      .set({ contactEmail: "asked@example.org", contactEmailVerified: true })
      .where(sql`${accounts.id} = ${owner.userId}`);
    const [loud, quiet] = [await keepRequest(service, owner, { notify: true }), await keepRequest(service, owner)];
    for (const request of [loud, quiet]) await answerRequest(service, request);
    const mails = (await mailsOf(service)).filter(
      ({ to, subject }) =>
        to === "asked@example.org" && subject === "The secret that you asked for in Relicario has come",
    );
    expect(mails).toHaveLength(1);
    expect(mails[0]?.text).not.toContain(loud.requestId);
  });
});
