import {
  answerTokenHeader,
  CollectAnswerBody,
  MarkCollectedBody,
  CreateRequestBody,
  DropRequestBody,
  FinishAnswerBody,
  fromBase64url,
  GetRequestBody,
  maxOpenAnswers,
  maxOpenRequests,
  requestLifetimeDays,
  StartAnswerBody,
  toBase64url,
  type KeyringChange,
  type RequestList,
} from "@relicario/shared/api";
import type { HttpMethod, HttpRequestOptions } from "@relicario/shared/contract";
import type { z } from "zod";

import { sha256 } from "../seal/bytes.ts";
import { newId } from "../seal/ids.ts";
import { refusal, type FakeAccount, type FakeAnswer, type FakeRequest } from "./fake-account.ts";
import { applyChange, findRepeatedCall, type ChangeCall } from "./fake-change.ts";
import { checkExpiry, onlyPage } from "./fake-shares.ts";
import { fakePartBytes, countParts, listReceivedParts, receivePart, requireForm, joinParts } from "./fake-uploads.ts";

const fixedTime = "2026-11-21T10:00:00.000Z";

type RequestState = RequestList["requests"][number]["state"];

/** Returns undefined for any other path. */
export async function handleAnswers(
  accounts: readonly FakeAccount[],
  method: HttpMethod,
  path: string,
  { body, headers }: HttpRequestOptions,
  now: number,
): Promise<unknown> {
  const call = `${method} ${path}`;
  if (call === "POST /requests/get") {
    const { request_id: id, link_auth: linkAuth } = GetRequestBody.parse(body);
    const request = requireByLink(accounts, id, linkAuth);
    return {
      document: request.document,
      state: readState(request, now),
      max_size: request.maxSize,
      part_size: fakePartBytes,
      expires_at: request.expiresAt,
    };
  }
  if (call === "POST /requests/answer") return startAnswer(accounts, StartAnswerBody.parse(body), now);
  const [, answerId] = /^\/requests\/answer\/([^/]+)$/.exec(path) ?? [];
  return answerId === undefined
    ? undefined
    : handleAnswer(accounts, answerId, headers?.[answerTokenHeader], method, body);
}

/** Returns undefined for any other path. */
export function handleRequests(
  account: FakeAccount,
  userId: string,
  call: string,
  body: unknown,
  query: NonNullable<HttpRequestOptions["query"]>,
  now: number,
): unknown {
  if (!/^[A-Z]+ \/requests(\/|$)/.test(call)) return undefined;
  const requests = (account.requests ??= new Map());
  if (call === "POST /requests") return createRequest(account, userId, requests, CreateRequestBody.parse(body), now);
  if (call === "GET /requests")
    return {
      requests: [...requests]
        .reverse()
        .map(([id, request]) => presentRequest(id, request, now))
        .filter(
          ({ state }) =>
            query["get_expired"] === true || state === "awaiting" || state === "provided" || state === "collected",
        ),
      ...onlyPage,
    };
  if (call === "POST /requests/collect") return collectAnswer(requests, CollectAnswerBody.parse(body).request_id);
  const [, method, id = ""] = /^(PATCH|DELETE) \/requests\/([^/]+)$/.exec(call) ?? [];
  const { keyring } = method === "PATCH" ? MarkCollectedBody.parse(body) : DropRequestBody.parse(body);
  const request = requests.get(id);
  const authored = method === "PATCH" || request?.provided != null;
  return withChange(account, userId, keyring, { rest: { request_id: id, method: method ?? "" }, authored }, id, () => {
    if (request === undefined) throw refusal("not_found");
    if (method !== "PATCH")
      return () => {
        dropRequest(request);
      };
    if (request.state !== "provided" && request.state !== "collected") throw refusal("conflict");
    return () => {
      [request.state, request.collectedAt] = ["collected", request.collectedAt ?? fixedTime];
    };
  });
}

/** Runs `check` before the change is applied, and the returned function afterwards. */
function withChange(
  account: FakeAccount,
  userId: string,
  keyring: KeyringChange,
  call: ChangeCall,
  requestId: string,
  check: () => () => void,
): unknown {
  if (keyring.requests === undefined) throw refusal("keyring_change_invalid");
  if (findRepeatedCall(account, keyring, call) === null) {
    const apply = check();
    applyChange(account, userId, keyring, call);
    apply();
  }
  return { request_id: requestId, state_rev: keyring.state_rev };
}

function createRequest(
  account: FakeAccount,
  userId: string,
  requests: Map<string, FakeRequest>,
  { keyring, ...rest }: CreateRequestBody,
  now: number,
): unknown {
  const { request_id: id, document, link_auth_sha256: linkAuthSha256, expires_at: expiresAt, max_size: maxSize } = rest;
  return withChange(account, userId, keyring, { rest }, id, () => {
    checkExpiry(expiresAt, requestLifetimeDays.maximum, now);
    if ([...requests.values()].filter((request) => readState(request, now) === "awaiting").length >= maxOpenRequests)
      throw refusal("limit_reached");
    if (requests.has(id)) throw refusal("id_taken");
    return () => {
      requests.set(id, {
        document,
        linkAuthSha256,
        createdAt: fixedTime,
        expiresAt,
        maxSize,
        state: "awaiting",
        provided: null,
        collectedAt: null,
        answers: new Map(),
      });
    };
  });
}

/** Also revokes the request, unless it was collected. */
function dropRequest(request: FakeRequest): void {
  if (request.state !== "collected") request.state = "revoked";
  request.provided = null;
}

function readState({ state, expiresAt }: FakeRequest, now: number): RequestState {
  return state === "awaiting" && Date.parse(expiresAt) <= now ? "expired" : state;
}

function presentRequest(id: string, request: FakeRequest, now: number): RequestList["requests"][number] {
  const { createdAt, expiresAt, maxSize, provided, collectedAt } = request;
  return {
    request_id: id,
    state: readState(request, now),
    created_at: createdAt,
    expires_at: expiresAt,
    max_size: maxSize,
    size: provided?.content.length ?? null,
    provided_at: provided?.at ?? null,
    collected_at: collectedAt,
  };
}

/** Refuses revoked requests and removed answers. */
function requireByLink(accounts: readonly FakeAccount[], id: string, linkAuth: string): FakeRequest {
  const request = accounts.flatMap(({ requests }) => requests?.get(id) ?? [])[0];
  const isGone = request?.state === "revoked" || (request?.state === "collected" && request.provided === null);
  if (request?.linkAuthSha256 !== toBase64url(sha256(fromBase64url(linkAuth))) || isGone)
    throw refusal("request_unavailable");
  return request;
}

function collectAnswer(requests: Map<string, FakeRequest>, id: string): unknown {
  const { provided, collectedAt } = requests.get(id) ?? {};
  if (provided == null) throw refusal(collectedAt == null ? "not_found" : "content_gone");
  return {
    ticket: provided.ticket,
    provided_at: provided.at,
    download: { token: `answer ${id}`, size: provided.content.length, expires_at: fixedTime },
  };
}

function startAnswer(
  accounts: readonly FakeAccount[],
  { request_id: id, link_auth: linkAuth, size }: z.infer<typeof StartAnswerBody>,
  now: number,
): unknown {
  const request = requireByLink(accounts, id, linkAuth);
  if (size > request.maxSize) throw refusal("payload_too_large");
  if (request.provided !== null) throw refusal("request_closed");
  if (readState(request, now) !== "awaiting") throw refusal("request_unavailable");
  for (const oldestId of [...request.answers.keys()].slice(0, Math.max(0, request.answers.size + 1 - maxOpenAnswers)))
    request.answers.delete(oldestId);
  const answerId = newId(Date.now());
  const answer: FakeAnswer = { token: `token of ${answerId}`, size, parts: new Map() };
  request.answers.set(answerId, answer);
  return {
    answer_id: answerId,
    token: answer.token,
    part_size: fakePartBytes,
    parts: countParts(answer),
    expires_at: fixedTime,
  };
}

async function handleAnswer(
  accounts: readonly FakeAccount[],
  answerId: string,
  token: string | undefined,
  method: HttpMethod,
  body: unknown,
): Promise<unknown> {
  const allRequests = accounts.flatMap(({ requests }) => [...(requests?.values() ?? [])]);
  if (token !== `token of ${answerId}`) throw refusal("not_found");
  const request = allRequests.find(({ answers }) => answers.has(answerId));
  const answer = request?.answers.get(answerId);
  if (request === undefined || answer === undefined) throw refusal("not_found");
  const isFinished = request.provided?.answerId === answerId;
  if (!isFinished && request.state !== "awaiting") throw refusal("request_closed");
  if (method === "PUT") return finishAnswer(request, answerId, answer, FinishAnswerBody.parse(body));
  if (method === "GET")
    return {
      answer_id: answerId,
      size: answer.size,
      part_size: fakePartBytes,
      parts: countParts(answer),
      received: listReceivedParts(answer),
      expires_at: fixedTime,
      finished: isFinished,
    };
  if (isFinished) throw refusal("request_closed");
  return receivePart(answer, requireForm(body));
}

/** Returns the same response for the same answer, byte for byte. */
function finishAnswer(
  request: FakeRequest,
  answerId: string,
  answer: FakeAnswer,
  body: z.infer<typeof FinishAnswerBody>,
): unknown {
  const call = JSON.stringify(body);
  if (request.provided === null) {
    const content = joinParts(answer, body.content_sha256);
    request.provided = { ticket: body.ticket, content, at: fixedTime, answerId, call };
    request.state = "provided";
  }
  if (request.provided.call !== call) throw refusal("request_closed");
  return { provided_at: request.provided.at };
}
