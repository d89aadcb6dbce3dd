import { randomBytes } from "node:crypto";

import { buildChangeWith, buildRequest, inDays, newPublicId } from "@relicario/api/testing/sharing";
import { confirm } from "@relicario/api/testing/person";
import {
  AnswerState,
  answerPath,
  answerTokenHeader,
  maxOpenRequests,
  ReceivedPart,
  formOfPart,
  RequestList,
  type CreateRequest,
} from "@relicario/shared/api";

import { newId } from "../../seal/ids.ts";
import { answerCallsOn, type AnswerCalls, type AnswerPlace } from "../../requests/answer-calls.ts";
import { transferCallsOn } from "../../transfer/upload-calls.ts";
import {
  day,
  digestB64u,
  expectRefusal,
  expectRefusals,
  noise,
  signInWithSecret,
  type Account,
  type ServiceUnderTest,
} from "./under-test.ts";

type Request = ReturnType<typeof buildRequest>;

async function ask({ calls, signer }: Account, more: Partial<CreateRequest> = {}): Promise<Request> {
  const request = buildRequest(signer, { max_size: 40_000_000, ...more });
  await calls.requests.create(request.body);
  confirm(signer, request.body.keyring);
  return request;
}

async function settle({ calls, signer }: Account, requestId: string, how: "markCollected" | "drop"): Promise<void> {
  const keyring = buildChangeWith(signer, "requests");
  await calls.requests[how](requestId, keyring);
  confirm(signer, keyring);
}

interface Answer {
  readonly place: AnswerPlace;
  readonly content: Uint8Array<ArrayBuffer>;
  readonly part: (
    number: number,
    change?: { readonly sha256?: string; readonly data?: Uint8Array<ArrayBuffer> },
  ) => Promise<void>;
  readonly body: { readonly ticket: string; readonly content_sha256: string };
}

export function describeRequests(service: () => ServiceUnderTest): void {
  const stateOf = async ({ calls }: Account, requestId: string) =>
    (await calls.requests.list()).find(({ request_id: id }) => id === requestId);
  const asked = async (
    more: Partial<CreateRequest> = {},
  ): Promise<{ account: Account; request: Request; calls: AnswerCalls }> => {
    const { account } = await signInWithSecret(service());
    return { account, request: await ask(account, more), calls: answerCallsOn(service().visitor) };
  };
  const begin = async (calls: AnswerCalls, { requestId, linkAuth }: Request, bytes = 1_000): Promise<Answer> => {
    const content = Uint8Array.from(randomBytes(bytes));
    const {
      answer_id: answerId,
      token,
      part_size: partSize,
    } = await calls.start({ request_id: requestId, link_auth: linkAuth, size: bytes });
    const place = { answerId, token };
    return {
      ...{ place, content },
      part: (
        number,
        { data = content.slice((number - 1) * partSize, number * partSize), sha256 = digestB64u(data) } = {},
      ) => calls.part(place, { part: number, sha256 }, new Blob([data])),
      body: { ticket: noise(1_500), content_sha256: digestB64u(content) },
    };
  };
  const provide = async (calls: AnswerCalls, request: Request): Promise<Answer> => {
    const answer = await begin(calls, request);
    await answer.part(1);
    await calls.finish(answer.place, answer.body);
    return answer;
  };

  describe("a request", () => {
    it("is listed for its owner and shown to its link, which costs nothing", async () => {
      const { account, request, calls } = await asked();
      await account.calls.requests.create(request.body);
      const { body } = request;
      const facts = { state: "awaiting", expires_at: body.expires_at, max_size: body.max_size };
      expect(await account.calls.requests.list()).toEqual([
        {
          request_id: request.requestId,
          ...facts,
          created_at: expect.any(String) as string,
          size: null,
          provided_at: null,
          collected_at: null,
        },
      ]);
      expect(await account.calls.keyring(null)).toMatchObject({ state_rev: 2, requests: body.keyring.requests });
      expect(await calls.look(request.requestId, request.linkAuth)).toEqual({
        ...facts,
        document: body.document,
        part_size: service().partBytes,
      });
      await expectRefusal(calls.look(request.requestId, noise(32)), "request_unavailable");
      await expectRefusal(calls.look(newPublicId(), request.linkAuth), "request_unavailable");
      expect(await (await service().signIn()).calls.requests.list()).toEqual([]);
    });

    it("takes a time to come, the document of requests, and an id that nobody has", async () => {
      const { account, request } = await asked();
      const attempt = (more: Partial<CreateRequest>): Promise<unknown> =>
        account.calls.requests.create(buildRequest(account.signer, more).body);
      for (const days of [-1, 60]) await expectRefusal(attempt({ expires_at: inDays(days) }), "validation_error");
      await expectRefusal(attempt({ request_id: request.requestId }), "id_taken");
      await expectRefusal(
        attempt({ keyring: buildChangeWith(account.signer, "requests", { requests: undefined }) }),
        "keyring_change_invalid",
      );
      await expectRefusal(
        attempt({ keyring: buildChangeWith(account.signer, "requests", { state_rev: 9 }) }),
        "state_conflict",
      );
      expect(await account.calls.requests.list()).toHaveLength(1);
      const empty = await service().signIn();
      await expectRefusal(empty.calls.requests.create(buildRequest(empty.signer).body), "keyring_change_invalid");
    });

    it("is one of twenty at most that wait", async () => {
      const { account, request } = await asked();
      for (let made = 1; made < maxOpenRequests; made++) await ask(account);
      await expectRefusal(ask(account), "limit_reached");
      await settle(account, request.requestId, "drop");
      await ask(account);
    });

    it("is over with its time, and closed by its owner", async () => {
      const { account, request, calls } = await asked();
      const other = await ask(account);
      await settle(account, other.requestId, "drop");
      expect(await stateOf(account, other.requestId)).toMatchObject({ state: "revoked" });
      await expectRefusal(calls.look(other.requestId, other.linkAuth), "request_unavailable");
      await expectRefusal(begin(calls, other), "request_unavailable");
      const { requests } = await account.http.request("GET", "/requests", RequestList);
      expect(requests.map(({ request_id: id }) => id)).toEqual([request.requestId]);
      await expectRefusal(settle(account, newPublicId(), "drop"), "not_found");
      await expectRefusal(settle((await signInWithSecret(service())).account, request.requestId, "drop"), "not_found");
      service().goAhead(7 * day);
      expect(await stateOf(account, request.requestId)).toMatchObject({ state: "expired" });
      expect(await calls.look(request.requestId, request.linkAuth)).toMatchObject({ state: "expired" });
      await expectRefusal(begin(calls, request), "request_unavailable");
    });
  });

  describe("an answer", () => {
    it("is sent in parts by whoever has the link, and collected by the owner alone", async () => {
      const { account, request, calls } = await asked();
      const { partBytes } = service();
      await expectRefusal(account.calls.requests.collect(request.requestId), "not_found");
      const answer = await begin(calls, request, partBytes + 1_000);
      const facts = { answer_id: answer.place.answerId, size: partBytes + 1_000, part_size: partBytes, parts: 2 };
      for (const number of [2, 1, 1]) await answer.part(number);
      expect(await calls.state(answer.place)).toMatchObject({
        ...facts,
        received: [
          { part: 1, size: partBytes },
          { part: 2, size: 1_000, sha256: digestB64u(answer.content.slice(partBytes)) },
        ],
        finished: false,
      });
      expect(await stateOf(account, request.requestId)).toMatchObject({ state: "awaiting", size: null });
      await calls.finish(answer.place, answer.body);
      await calls.finish(answer.place, answer.body);
      expect(await calls.state(answer.place)).toMatchObject({ finished: true });
      expect(await stateOf(account, request.requestId)).toMatchObject({
        state: "provided",
        size: answer.content.length,
        provided_at: expect.any(String) as string,
        collected_at: null,
      });
      expect(await calls.look(request.requestId, request.linkAuth)).toMatchObject({ state: "provided" });

      const { ticket, download } = await account.calls.requests.collect(request.requestId);
      expect({ ticket, size: download.size }).toEqual({ ticket: answer.body.ticket, size: answer.content.length });
      const { bytes } = await account.calls.content.range({ token: download.token }, partBytes - 4, partBytes + 4);
      expect(Buffer.from(bytes)).toEqual(Buffer.from(answer.content.slice(partBytes - 4, partBytes + 4)));
      await expectRefusal(
        transferCallsOn(service().visitor).range({ token: download.token }, 0, 9),
        "share_unavailable",
      );
      const other = (await signInWithSecret(service())).account;
      await expectRefusal(other.calls.content.range({ token: download.token }, 0, 9), "share_unavailable");
      await expectRefusal(other.calls.requests.collect(request.requestId), "not_found");
    });

    it("takes its parts by its own token, with their lengths and digests", async () => {
      const { request, calls } = await asked();
      const answer = await begin(calls, request);
      await expectRefusal(answer.part(1, { sha256: digestB64u(Buffer.from("another")) }), "digest_mismatch");
      await expectRefusal(answer.part(1, { data: answer.content.slice(1) }), "validation_error");
      await expectRefusal(answer.part(2, { data: answer.content }), "validation_error");
      await expectRefusal(calls.finish(answer.place, answer.body), "upload_incomplete");
      await answer.part(1);
      await expectRefusal(answer.part(1, { data: answer.content.map((byte) => byte ^ 1) }), "conflict");
      await expectRefusal(
        calls.finish(answer.place, { ...answer.body, content_sha256: digestB64u(Buffer.from("another")) }),
        "digest_mismatch",
      );
      const form = formOfPart({ part: 1, sha256: digestB64u(answer.content) }, new Blob([answer.content]));
      for (const [id, token] of [
        [answer.place.answerId, "another"],
        [newId(Date.now()), answer.place.token],
      ] as const) {
        await expectRefusal(
          service().visitor.request("GET", answerPath(id), AnswerState, { headers: { [answerTokenHeader]: token } }),
          "not_found",
        );
        await expectRefusal(
          service().visitor.request("POST", answerPath(id), ReceivedPart, {
            body: form,
            headers: { [answerTokenHeader]: token },
          }),
          "not_found",
        );
      }
      expect((await calls.state(answer.place)).finished).toBe(false);
    });

    it("is begun by the link alone, no larger than was asked for", async () => {
      const { request, calls } = await asked({ max_size: 5_000 });
      await expectRefusal(begin(calls, request, 5_001), "payload_too_large");
      await expectRefusal(begin(calls, { ...request, linkAuth: noise(32) }), "request_unavailable");
      await expectRefusal(begin(calls, { ...request, requestId: newPublicId() }), "request_unavailable");
      await begin(calls, request, 5_000);
    });

    it("is one of two that may be unfinished: a third ends the oldest", async () => {
      const { request, calls } = await asked();
      const [oldest, second] = [await begin(calls, request), await begin(calls, request)];
      service().goAhead(1_000);
      await begin(calls, request);
      await expectRefusal(calls.state(oldest.place), "upload_dropped");
      expect(await calls.state(second.place)).toMatchObject({ finished: false });
    });

    it("closes the request for every other one", async () => {
      const { request, calls } = await asked();
      const late = await begin(calls, request);
      await late.part(1);
      const first = await provide(calls, request);
      await expectRefusals(
        [
          late.part(1),
          calls.state(late.place),
          calls.finish(late.place, late.body),
          begin(calls, request),
          first.part(1),
        ],
        "request_closed",
      );
      await expectRefusal(calls.finish(first.place, { ...first.body, ticket: noise(1_500) }), "request_closed");
    });

    it("is nothing any more once its request is revoked", async () => {
      const { account, request, calls } = await asked();
      const answer = await begin(calls, request);
      await answer.part(1);
      await settle(account, request.requestId, "drop");
      await expectRefusals(
        [answer.part(1), calls.state(answer.place), calls.finish(answer.place, answer.body)],
        "request_closed",
      );
      await expectRefusal(account.calls.requests.collect(request.requestId), "not_found");
    });

    it("is marked as collected once it came, and stays until it is dropped", async () => {
      const { account, request, calls } = await asked();
      await expectRefusal(settle(account, request.requestId, "markCollected"), "conflict");
      await expectRefusal(settle(account, newPublicId(), "markCollected"), "not_found");
      const answer = await provide(calls, request);
      await settle(account, request.requestId, "markCollected");
      await settle(account, request.requestId, "markCollected");
      expect(await stateOf(account, request.requestId)).toMatchObject({
        state: "collected",
        size: 1_000,
        collected_at: expect.any(String) as string,
      });
      expect(await account.calls.requests.collect(request.requestId)).toMatchObject({ ticket: answer.body.ticket });
      await settle(account, request.requestId, "drop");
      expect(await stateOf(account, request.requestId)).toMatchObject({ state: "collected", size: null });
      await expectRefusal(account.calls.requests.collect(request.requestId), "content_gone");
      await expectRefusal(calls.look(request.requestId, request.linkAuth), "request_unavailable");
    });
  });
}
