import { AnswerState, answerTokenHeader, CollectAnswer, CollectedRequest, CreateRequest, DropRequest, FinishAnswer, fromB64u, GetRequest, maxOpenRequests, PartFields, StartAnswer, toB64u, type RequestList } from "@relicario/shared/api";
import type { HttpMethod, HttpOptions, HttpStream } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import type { z } from "zod";

import { concat, copyOf, sha256 } from "../seal/bytes.ts";
import { newId } from "../seal/ids.ts";
import { applyChange, type FakeAccount, type FakeAnswer, type FakeRequest } from "./fake-account.ts";
import { fakePartBytes } from "./fake-uploads.ts";

const now = "2026-11-21T10:00:00.000Z";

/** The calls of requests and of their answers, by the service's rules. Undefined for any other path. */
export async function handleRequests(account: FakeAccount, userId: string, method: HttpMethod, path: string, { body: given, headers }: HttpOptions): Promise<unknown> {
  if (!/^\/requests(\/|$)/.test(path)) return undefined;
  const requests = (account.requests ??= new Map());
  const body: unknown = given instanceof FormData ? given : given === undefined ? undefined : JSON.parse(JSON.stringify(given));
  const call = `${method} ${path}`;
  if (call === "POST /requests") return create(account, userId, requests, CreateRequest.parse(body));
  if (call === "GET /requests") return { requests: [...requests].map(([id, request]) => line(id, request)) };
  if (call === "POST /requests/get") {
    const asked = GetRequest.parse(body);
    const { document, state, maxSize, expiresAt } = byLink(requests, asked.request_id, asked.link_auth);
    if (state === "revoked") throw new PortalError("request_unavailable");
    return { document, state, max_size: maxSize, part_size: fakePartBytes, expires_at: expiresAt };
  }
  if (call === "POST /requests/collect") return collect(requests, CollectAnswer.parse(body).request_id);
  if (call === "POST /requests/answer") return start(requests, StartAnswer.parse(body));
  const [, answerId] = /^\/requests\/answer\/([^/]+)$/.exec(path) ?? [];
  if (answerId !== undefined) return ofAnswer(requests, answerId, headers?.[answerTokenHeader], method, body);
  const [, id = ""] = /^\/requests\/([^/]+)$/.exec(path) ?? [];
  const request = requests.get(id);
  if (request === undefined) throw new PortalError("not_found");
  if (method === "PATCH") {
    const stateRev = applyChange(account, userId, CollectedRequest.parse(body).keyring);
    [request.state, request.collectedAt] = ["collected", now];
    return { request_id: id, state_rev: stateRev };
  }
  const stateRev = applyChange(account, userId, DropRequest.parse(body).keyring);
  if (request.state !== "collected") request.state = "revoked";
  request.provided = null;
  return { request_id: id, state_rev: stateRev };
}

/** A range of an answer, by its download token. Undefined for any other path or token. */
export function handleAnswerStream({ requests }: FakeAccount, path: string, { body, headers }: HttpOptions): HttpStream | undefined {
  if (path !== "/share/content") return undefined;
  const { token } = body as { token: string };
  const content = requests?.get(token.replace(/^answer /, ""))?.provided?.content;
  if (content === undefined) return undefined;
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers?.["range"] ?? "") ?? [];
  const first = Number(from ?? 0);
  return { size: content.length, start: first, body: new Blob([content.slice(first, to === undefined ? undefined : Number(to) + 1)]).stream() };
}

function create(account: FakeAccount, userId: string, requests: Map<string, FakeRequest>, body: CreateRequest): unknown {
  const before = requests.get(body.request_id);
  if (before === undefined && [...requests.values()].filter(({ state }) => state === "awaiting").length >= maxOpenRequests) throw new PortalError("limit_reached");
  const stateRev = applyChange(account, userId, body.keyring);
  if (before === undefined) {
    const { document, link_auth_sha256: linkAuthSha256, expires_at: expiresAt, max_size: maxSize } = body;
    requests.set(body.request_id, { document, linkAuthSha256, createdAt: now, expiresAt, maxSize, state: "awaiting", provided: null, collectedAt: null, answers: new Map() });
  }
  return { request_id: body.request_id, state_rev: stateRev };
}

function line(id: string, { state, createdAt, expiresAt, maxSize, provided, collectedAt }: FakeRequest): RequestList["requests"][number] {
  return { request_id: id, state, created_at: createdAt, expires_at: expiresAt, max_size: maxSize, size: provided?.content.length ?? null, provided_at: provided?.at ?? null, collected_at: collectedAt };
}

function byLink(requests: Map<string, FakeRequest>, id: string, linkAuth: string): FakeRequest {
  const request = requests.get(id);
  if (request?.linkAuthSha256 !== toB64u(sha256(fromB64u(linkAuth)))) throw new PortalError("request_unavailable");
  return request;
}

function collect(requests: Map<string, FakeRequest>, id: string): unknown {
  const { provided, collectedAt } = requests.get(id) ?? {};
  if (provided == null) throw new PortalError(collectedAt == null ? "not_found" : "content_gone");
  return { ticket: provided.ticket, provided_at: provided.at, download: { token: `answer ${id}`, size: provided.content.length, expires_at: now } };
}

function start(requests: Map<string, FakeRequest>, { request_id: id, link_auth: linkAuth, size }: z.infer<typeof StartAnswer>): unknown {
  const request = byLink(requests, id, linkAuth);
  if (request.provided !== null) throw new PortalError("request_closed");
  if (request.state !== "awaiting") throw new PortalError("request_unavailable");
  if (size > request.maxSize) throw new PortalError("payload_too_large");
  const answerId = newId(Date.now());
  const answer: FakeAnswer = { token: `token of ${answerId}`, size, parts: new Map() };
  request.answers.set(answerId, answer);
  return { answer_id: answerId, token: answer.token, part_size: fakePartBytes, parts: Math.ceil(size / fakePartBytes), expires_at: now };
}

async function ofAnswer(requests: Map<string, FakeRequest>, answerId: string, token: string | undefined, method: HttpMethod, body: unknown): Promise<unknown> {
  const request = [...requests.values()].find(({ answers }) => answers.has(answerId));
  const answer = request?.answers.get(answerId);
  if (request === undefined || answer === undefined) throw new PortalError("request_unavailable");
  if (answer.token !== token) throw new PortalError("request_unavailable");
  if (method === "PUT") return finish(request, answer, FinishAnswer.parse(body));
  if (request.provided !== null) throw new PortalError("request_closed");
  if (request.state === "revoked") throw new PortalError("request_closed");
  const { size, parts } = answer;
  if (method === "GET") {
    const received = [...parts].map(([part, bytes]) => ({ part, size: bytes.length, sha256: toB64u(sha256(bytes)) }));
    return AnswerState.parse({ answer_id: answerId, size, part_size: fakePartBytes, parts: Math.ceil(size / fakePartBytes), received, expires_at: now, finished: false });
  }
  if (!(body instanceof FormData)) throw new PortalError("validation_error");
  const { part, sha256: expected } = PartFields.parse({ part: body.get("part"), sha256: body.get("sha256") });
  const data = body.get("data");
  if (!(data instanceof Blob)) throw new PortalError("validation_error");
  const bytes = new Uint8Array(await data.arrayBuffer());
  if (bytes.length !== Math.min(size, part * fakePartBytes) - (part - 1) * fakePartBytes) throw new PortalError("validation_error");
  if (toB64u(sha256(bytes)) !== expected) throw new PortalError("digest_mismatch");
  parts.set(part, bytes);
  return { part, size: bytes.length, sha256: expected };
}

/** The first one wins; the same one, byte for byte, answers as the first time. */
function finish(request: FakeRequest, { size, parts }: FakeAnswer, body: z.infer<typeof FinishAnswer>): unknown {
  const call = JSON.stringify(body);
  if (request.provided !== null) {
    if (request.provided.call !== call) throw new PortalError("request_closed");
    return { provided_at: request.provided.at };
  }
  if (request.state === "revoked") throw new PortalError("request_closed");
  if (parts.size < Math.ceil(size / fakePartBytes)) throw new PortalError("upload_incomplete");
  const content = copyOf(concat(...[...parts].sort(([left], [right]) => left - right).map(([, bytes]) => bytes)));
  if (toB64u(sha256(content)) !== body.content_sha256) throw new PortalError("digest_mismatch");
  request.provided = { ticket: body.ticket, content, at: now, call };
  request.state = "provided";
  return { provided_at: now };
}
