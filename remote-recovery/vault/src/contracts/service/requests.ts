import { randomBytes } from "node:crypto";

import {
  buildChangeWithDocument,
  buildRequest,
  formatDaysFromNow,
  createPublicId,
} from "@relicario/api/testing/sharing";
import { buildChange, buildJwe, confirmChange } from "@relicario/api/testing/person";
import {
  AnswerState,
  answerPath,
  answerTokenHeader,
  maxOpenRequests,
  ReceivedPart,
  buildPartForm,
  RequestList,
  type CreateRequestBody,
} from "@relicario/shared/api";

import { newId } from "../../seal/ids.ts";
import { createAnswerCalls, type AnswerCalls, type AnswerUpload } from "../../requests/answer-calls.ts";
import { createTransferCalls } from "../../transfer/upload-calls.ts";
import {
  dayMs,
  computeDigestB64u,
  expectRefusal,
  expectRefusals,
  randomB64u,
  signInWithSecret,
  type Account,
  type ServiceUnderTest,
} from "./service-under-test.ts";

type BuiltRequest = ReturnType<typeof buildRequest>;

async function createRequest(
  { calls, signer }: Account,
  overrides: Partial<CreateRequestBody> = {},
): Promise<BuiltRequest> {
  const request = buildRequest(signer, { max_size: 40_000_000, ...overrides });
  await calls.requests.create(request.body);
  confirmChange(signer, request.body.keyring);
  return request;
}

async function endRequest(
  { calls, signer }: Account,
  requestId: string,
  call: "markCollected" | "drop",
): Promise<void> {
  const keyring = buildChangeWithDocument(signer, "requests");
  await calls.requests[call](requestId, keyring);
  confirmChange(signer, keyring);
}

interface StartedAnswer {
  readonly upload: AnswerUpload;
  readonly content: Uint8Array<ArrayBuffer>;
  readonly sendPart: (
    number: number,
    change?: { readonly sha256?: string; readonly data?: Uint8Array<ArrayBuffer> },
  ) => Promise<void>;
  readonly body: { readonly ticket: string; readonly content_sha256: string };
}

export function describeRequests(service: () => ServiceUnderTest): void {
  const findRequest = async ({ calls }: Account, requestId: string) =>
    (await calls.requests.list()).find(({ request_id: id }) => id === requestId);
  const createRequestWithCalls = async (
    overrides: Partial<CreateRequestBody> = {},
  ): Promise<{ account: Account; request: BuiltRequest; calls: AnswerCalls }> => {
    const { account } = await signInWithSecret(service());
    return { account, request: await createRequest(account, overrides), calls: createAnswerCalls(service().visitor) };
  };
  const startAnswer = async (
    calls: AnswerCalls,
    { requestId, linkAuth }: BuiltRequest,
    bytes = 1_000,
  ): Promise<StartedAnswer> => {
    const content = Uint8Array.from(randomBytes(bytes));
    const {
      answer_id: answerId,
      token,
      part_size: partSize,
    } = await calls.start({ request_id: requestId, link_auth: linkAuth, size: bytes });
    const upload = { answerId, token };
    return {
      ...{ upload, content },
      sendPart: (
        number,
        { data = content.slice((number - 1) * partSize, number * partSize), sha256 = computeDigestB64u(data) } = {},
      ) => calls.part(upload, { part: number, sha256 }, new Blob([data])),
      body: { ticket: randomB64u(1_500), content_sha256: computeDigestB64u(content) },
    };
  };
  const sendAnswer = async (calls: AnswerCalls, request: BuiltRequest): Promise<StartedAnswer> => {
    const answer = await startAnswer(calls, request);
    await answer.sendPart(1);
    await calls.finish(answer.upload, answer.body);
    return answer;
  };

  describe("a request", () => {
    it("is neither collected nor dropped by metadata keys alone", async () => {
      const { account, request, calls } = await createRequestWithCalls();
      const { signer } = account;
      await sendAnswer(calls, request);
      const buildUnauthored = () =>
        buildChange(signer, {
          requests: buildJwe({ typ: "relicario-requests", user_id: signer.userId, key_epoch: 1 }),
          author_sig: undefined,
        });
      const { requestId } = request;
      await expectRefusal(account.calls.requests.markCollected(requestId, buildUnauthored()), "keyring_change_invalid");
      await expectRefusal(account.calls.requests.drop(requestId, buildUnauthored()), "keyring_change_invalid");
      expect(await findRequest(account, requestId)).toMatchObject({ state: "provided", collected_at: null });
    });

    it("is listed for its owner, and shown to anyone with its link", async () => {
      const { account, request, calls } = await createRequestWithCalls();
      await account.calls.requests.create(request.body);
      const { body } = request;
      const expected = { state: "awaiting", expires_at: body.expires_at, max_size: body.max_size };
      expect(await account.calls.requests.list()).toEqual([
        {
          request_id: request.requestId,
          ...expected,
          created_at: expect.any(String) as string,
          size: null,
          provided_at: null,
          collected_at: null,
        },
      ]);
      expect(await account.calls.getKeyring(null)).toMatchObject({ state_rev: 2, requests: body.keyring.requests });
      expect(await calls.inspect(request.requestId, request.linkAuth)).toEqual({
        ...expected,
        document: body.document,
        part_size: service().partBytes,
      });
      await expectRefusal(calls.inspect(request.requestId, randomB64u(32)), "request_unavailable");
      await expectRefusal(calls.inspect(createPublicId(), request.linkAuth), "request_unavailable");
      expect(await (await service().signIn()).calls.requests.list()).toEqual([]);
    });

    it("needs a future expiry, the requests document, and an unused id", async () => {
      const { account, request } = await createRequestWithCalls();
      const attempt = (overrides: Partial<CreateRequestBody>): Promise<unknown> =>
        account.calls.requests.create(buildRequest(account.signer, overrides).body);
      for (const days of [-1, 60])
        await expectRefusal(attempt({ expires_at: formatDaysFromNow(days) }), "validation_error");
      await expectRefusal(attempt({ request_id: request.requestId }), "id_taken");
      await expectRefusal(
        attempt({ keyring: buildChangeWithDocument(account.signer, "requests", { requests: undefined }) }),
        "keyring_change_invalid",
      );
      await expectRefusal(
        attempt({ keyring: buildChangeWithDocument(account.signer, "requests", { state_rev: 9 }) }),
        "state_conflict",
      );
      expect(await account.calls.requests.list()).toHaveLength(1);
      const emptyAccount = await service().signIn();
      await expectRefusal(
        emptyAccount.calls.requests.create(buildRequest(emptyAccount.signer).body),
        "keyring_change_invalid",
      );
    });

    it("is refused when twenty are open", async () => {
      const { account, request } = await createRequestWithCalls();
      for (let count = 1; count < maxOpenRequests; count++) await createRequest(account);
      await expectRefusal(createRequest(account), "limit_reached");
      await endRequest(account, request.requestId, "drop");
      await createRequest(account);
    });

    it("expires, and is revoked by its owner", async () => {
      const { account, request, calls } = await createRequestWithCalls();
      const other = await createRequest(account);
      await endRequest(account, other.requestId, "drop");
      expect(await findRequest(account, other.requestId)).toMatchObject({ state: "revoked" });
      await expectRefusal(calls.inspect(other.requestId, other.linkAuth), "request_unavailable");
      await expectRefusal(startAnswer(calls, other), "request_unavailable");
      const { requests } = await account.http.request("GET", "/requests", RequestList);
      expect(requests.map(({ request_id: id }) => id)).toEqual([request.requestId]);
      await expectRefusal(endRequest(account, createPublicId(), "drop"), "not_found");
      await expectRefusal(
        endRequest((await signInWithSecret(service())).account, request.requestId, "drop"),
        "not_found",
      );
      service().setClockOffset(7 * dayMs);
      expect(await findRequest(account, request.requestId)).toMatchObject({ state: "expired" });
      expect(await calls.inspect(request.requestId, request.linkAuth)).toMatchObject({ state: "expired" });
      await expectRefusal(startAnswer(calls, request), "request_unavailable");
    });
  });

  describe("an answer", () => {
    it("is sent in parts by anyone with the link, and collected only by the request's owner", async () => {
      const { account, request, calls } = await createRequestWithCalls();
      const { partBytes } = service();
      await expectRefusal(account.calls.requests.collect(request.requestId), "not_found");
      const answer = await startAnswer(calls, request, partBytes + 1_000);
      const expected = { answer_id: answer.upload.answerId, size: partBytes + 1_000, part_size: partBytes, parts: 2 };
      for (const number of [2, 1, 1]) await answer.sendPart(number);
      expect(await calls.state(answer.upload)).toMatchObject({
        ...expected,
        received: [
          { part: 1, size: partBytes },
          { part: 2, size: 1_000, sha256: computeDigestB64u(answer.content.slice(partBytes)) },
        ],
        finished: false,
      });
      expect(await findRequest(account, request.requestId)).toMatchObject({ state: "awaiting", size: null });
      await calls.finish(answer.upload, answer.body);
      await calls.finish(answer.upload, answer.body);
      expect(await calls.state(answer.upload)).toMatchObject({ finished: true });
      expect(await findRequest(account, request.requestId)).toMatchObject({
        state: "provided",
        size: answer.content.length,
        provided_at: expect.any(String) as string,
        collected_at: null,
      });
      expect(await calls.inspect(request.requestId, request.linkAuth)).toMatchObject({ state: "provided" });

      const { ticket, download } = await account.calls.requests.collect(request.requestId);
      expect({ ticket, size: download.size }).toEqual({ ticket: answer.body.ticket, size: answer.content.length });
      const { bytes } = await account.calls.content.range({ token: download.token }, partBytes - 4, partBytes + 4);
      expect(Buffer.from(bytes)).toEqual(Buffer.from(answer.content.slice(partBytes - 4, partBytes + 4)));
      await expectRefusal(
        createTransferCalls(service().visitor).range({ token: download.token }, 0, 9),
        "share_unavailable",
      );
      const other = (await signInWithSecret(service())).account;
      await expectRefusal(other.calls.content.range({ token: download.token }, 0, 9), "share_unavailable");
      await expectRefusal(other.calls.requests.collect(request.requestId), "not_found");
    });

    it("accepts parts only with its token, and with the right lengths and digests", async () => {
      const { request, calls } = await createRequestWithCalls();
      const answer = await startAnswer(calls, request);
      await expectRefusal(answer.sendPart(1, { sha256: computeDigestB64u(Buffer.from("another")) }), "digest_mismatch");
      await expectRefusal(answer.sendPart(1, { data: answer.content.slice(1) }), "validation_error");
      await expectRefusal(answer.sendPart(2, { data: answer.content }), "validation_error");
      await expectRefusal(calls.finish(answer.upload, answer.body), "upload_incomplete");
      await answer.sendPart(1);
      await expectRefusal(answer.sendPart(1, { data: answer.content.map((byte) => byte ^ 1) }), "conflict");
      await expectRefusal(
        calls.finish(answer.upload, { ...answer.body, content_sha256: computeDigestB64u(Buffer.from("another")) }),
        "digest_mismatch",
      );
      const form = buildPartForm({ part: 1, sha256: computeDigestB64u(answer.content) }, new Blob([answer.content]));
      for (const [id, token] of [
        [answer.upload.answerId, "another"],
        [newId(Date.now()), answer.upload.token],
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
      expect((await calls.state(answer.upload)).finished).toBe(false);
    });

    it("is started only with the link, up to the requested size", async () => {
      const { request, calls } = await createRequestWithCalls({ max_size: 5_000 });
      await expectRefusal(startAnswer(calls, request, 5_001), "payload_too_large");
      await expectRefusal(startAnswer(calls, { ...request, linkAuth: randomB64u(32) }), "request_unavailable");
      await expectRefusal(startAnswer(calls, { ...request, requestId: createPublicId() }), "request_unavailable");
      await startAnswer(calls, request, 5_000);
    });

    it("is dropped as the oldest when a third one starts", async () => {
      const { request, calls } = await createRequestWithCalls();
      const [oldestAnswer, newerAnswer] = [await startAnswer(calls, request), await startAnswer(calls, request)];
      service().setClockOffset(1_000);
      await startAnswer(calls, request);
      await expectRefusal(calls.state(oldestAnswer.upload), "upload_dropped");
      expect(await calls.state(newerAnswer.upload)).toMatchObject({ finished: false });
    });

    it("closes the request for all other answers", async () => {
      const { request, calls } = await createRequestWithCalls();
      const lateAnswer = await startAnswer(calls, request);
      await lateAnswer.sendPart(1);
      const finishedAnswer = await sendAnswer(calls, request);
      await expectRefusals(
        [
          lateAnswer.sendPart(1),
          calls.state(lateAnswer.upload),
          calls.finish(lateAnswer.upload, lateAnswer.body),
          startAnswer(calls, request),
          finishedAnswer.sendPart(1),
        ],
        "request_closed",
      );
      await expectRefusal(
        calls.finish(finishedAnswer.upload, { ...finishedAnswer.body, ticket: randomB64u(1_500) }),
        "request_closed",
      );
    });

    it("is refused after its request is revoked", async () => {
      const { account, request, calls } = await createRequestWithCalls();
      const answer = await startAnswer(calls, request);
      await answer.sendPart(1);
      await endRequest(account, request.requestId, "drop");
      await expectRefusals(
        [answer.sendPart(1), calls.state(answer.upload), calls.finish(answer.upload, answer.body)],
        "request_closed",
      );
      await expectRefusal(account.calls.requests.collect(request.requestId), "not_found");
    });

    it("is marked as collected once provided, and stays until dropped", async () => {
      const { account, request, calls } = await createRequestWithCalls();
      await expectRefusal(endRequest(account, request.requestId, "markCollected"), "conflict");
      await expectRefusal(endRequest(account, createPublicId(), "markCollected"), "not_found");
      const answer = await sendAnswer(calls, request);
      await endRequest(account, request.requestId, "markCollected");
      await endRequest(account, request.requestId, "markCollected");
      expect(await findRequest(account, request.requestId)).toMatchObject({
        state: "collected",
        size: 1_000,
        collected_at: expect.any(String) as string,
      });
      expect(await account.calls.requests.collect(request.requestId)).toMatchObject({ ticket: answer.body.ticket });
      await endRequest(account, request.requestId, "drop");
      expect(await findRequest(account, request.requestId)).toMatchObject({ state: "collected", size: null });
      await expectRefusal(account.calls.requests.collect(request.requestId), "content_gone");
      await expectRefusal(calls.inspect(request.requestId, request.linkAuth), "request_unavailable");
    });
  });
}
