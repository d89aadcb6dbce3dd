import { randomBytes } from "node:crypto";

import {
  answerPath,
  answerTokenHeader,
  formOfPart,
  OwnShare,
  type CreateRequest,
  type CreateShare,
  type FinishAnswer,
  type Json,
} from "@relicario/shared/api";
import { z } from "zod";

import { buildChange, buildJwe, buildSecret, confirm, type Person, type SecretCall, type Signer } from "./person.ts";
import type { Answer, CallOptions, Method, TestService } from "./service.ts";
import { sentForm, sha256B64u, type SentForm } from "./upload.ts";

export const newPublicId = (): string => randomBytes(16).toString("base64url");
const b64u = (bytes: number): string => randomBytes(bytes).toString("base64url");
const digestOfB64u = (text: string): string => sha256B64u(Buffer.from(text, "base64url"));

/** A change that carries the document of shares, or of requests, as the device makes one. */
export function buildChangeWith(
  person: Signer,
  document: "shares" | "requests",
  overrides: Readonly<Record<string, Json | undefined>> = {},
) {
  return buildChange(person, {
    [document]: buildJwe({ typ: `relicario-${document}`, user_id: person.userId, key_epoch: 1 }),
    ...overrides,
  });
}

export const inDays = (days: number, from = new Date()): string =>
  new Date(from.getTime() + days * 86_400_000).toISOString();

/** What whoever has a link can prove with it. */
export interface Link {
  readonly shareId: string;
  readonly linkAuth: string;
  readonly passAuth: string;
}

export interface BuiltShare extends Link {
  readonly body: CreateShare;
}

/** A whole `POST /share`. A `recipient` makes it a person's. */
export function buildShare(
  person: Signer,
  secretId: string,
  { change = {}, ...more }: Partial<CreateShare> & { change?: Readonly<Record<string, Json | undefined>> } = {},
): BuiltShare {
  const [shareId, linkAuth, passAuth] = [newPublicId(), b64u(32), b64u(32)];
  const audience = more.recipient === undefined ? "public" : "person";
  const digests =
    audience === "person" ? {} : { link_auth_sha256: digestOfB64u(linkAuth), pass_auth_sha256: digestOfB64u(passAuth) };
  const body: CreateShare = {
    ...{ share_id: shareId, secret_db_id: secretId, version: 1, audience, ticket: b64u(2_000), ...digests },
    ...{ password: false, expires_at: inDays(7), keyring: buildChangeWith(person, "shares", change), ...more },
  };
  return { shareId, linkAuth, passAuth, body };
}

export const openingOf = ({ shareId, linkAuth, passAuth }: Link, claimId: string | undefined = b64u(16)) => ({
  share_id: shareId,
  link_auth: linkAuth,
  pass_auth: passAuth,
  claim_id: claimId,
});

/** `POST /requests`, with what the link of it proves. */
export function buildRequest(
  person: Signer,
  more: Partial<CreateRequest> = {},
): { body: CreateRequest; requestId: string; linkAuth: string } {
  const [requestId, linkAuth] = [newPublicId(), b64u(32)];
  const document = buildJwe({ typ: "relicario-request", request_id: requestId });
  const body = {
    request_id: requestId,
    document,
    link_auth_sha256: digestOfB64u(linkAuth),
    expires_at: inDays(7),
    max_size: 20_000_000,
    keyring: buildChangeWith(person, "requests"),
    ...more,
  };
  return { body, requestId, linkAuth };
}

/** Somebody's calls on this service, with their session or without. */
export type Calls = Pick<TestService, "call">;

/** @throws Error when the call is not answered 200 */
export async function done(
  { call }: Calls,
  method: Method,
  path: string,
  token: string | null,
  options: CallOptions = {},
): Promise<Answer> {
  const answer = await call(method, path, token, options);
  if (answer.status !== 200)
    throw new Error(`${method} ${path} was answered ${String(answer.status)} ${answer.text.slice(0, 300)}`);
  return answer;
}

export async function keepSecret(
  calls: Calls,
  person: Person,
  options: Parameters<typeof buildSecret>[1] = {},
): Promise<SecretCall & { readonly id: string }> {
  const secret = buildSecret(person, options);
  await done(calls, "POST", "/secrets/store", person.token, { body: secret.body });
  confirm(person, secret.body.keyring);
  return { ...secret, id: secret.body.secret_db_id };
}

export async function keepShare(
  calls: Calls,
  person: Person,
  secretId: string,
  more: Parameters<typeof buildShare>[2] = {},
): Promise<BuiltShare> {
  const share = buildShare(person, secretId, more);
  await done(calls, "POST", "/share", person.token, { body: share.body });
  confirm(person, share.body.keyring);
  return share;
}

/** Somebody new with a secret that is shared. */
export async function sharedBySomebody(
  service: TestService,
  more: Parameters<typeof buildShare>[2] = {},
): Promise<{ owner: Person; secret: Awaited<ReturnType<typeof keepSecret>>; share: BuiltShare }> {
  const owner = await service.signIn();
  const secret = await keepSecret(service, owner);
  return { owner, secret, share: await keepShare(service, owner, secret.id, more) };
}

export async function sharesOf(
  calls: Calls,
  person: Person,
  secretId: string,
  { ended = true } = {},
): Promise<OwnShare[]> {
  const { body } = await done(calls, "GET", `/sharelist/${secretId}${ended ? "?get_expired=true" : ""}`, person.token);
  return z.object({ shares: z.array(OwnShare) }).parse(body).shares;
}

export async function keepRequest(
  calls: Calls,
  person: Person,
  more: Partial<CreateRequest> = {},
): Promise<ReturnType<typeof buildRequest>> {
  const request = buildRequest(person, more);
  await done(calls, "POST", "/requests", person.token, { body: request.body });
  confirm(person, request.body.keyring);
  return request;
}

export async function dropRequest(calls: Calls, person: Person, requestId: string): Promise<void> {
  const keyring = buildChangeWith(person, "requests");
  await done(calls, "DELETE", `/requests/${requestId}`, person.token, { body: { keyring } });
  confirm(person, keyring);
}

export interface BuiltAnswer {
  readonly id: string;
  readonly token: string;
  readonly content: Buffer;
  readonly partSize: number;
  readonly finish: FinishAnswerBody;
  readonly headers: Readonly<Record<string, string>>;
  part(number: number): Promise<SentForm>;
}
type FinishAnswerBody = z.infer<typeof FinishAnswer>;

/** An answer of somebody without an account, begun. */
export async function beginAnswer(
  calls: Calls,
  { requestId, linkAuth }: { requestId: string; linkAuth: string },
  bytes = 5_000,
): Promise<BuiltAnswer> {
  const { body } = await done(calls, "POST", "/requests/answer", null, {
    body: { request_id: requestId, link_auth: linkAuth, size: bytes },
  });
  const content = randomBytes(bytes);
  const partSize = Number(body["part_size"]);
  const headers = { [answerTokenHeader]: String(body["token"]) };
  return {
    ...{ id: String(body["answer_id"]), token: String(body["token"]), content, partSize, headers },
    finish: { ticket: b64u(1_500), content_sha256: sha256B64u(content) },
    async part(number) {
      const data = Uint8Array.from(content.subarray((number - 1) * partSize, number * partSize));
      const form = await sentForm(formOfPart({ part: number, sha256: sha256B64u(data) }, new Blob([data])));
      return { ...form, headers: { ...form.headers, ...headers } };
    },
  };
}

export async function sendParts(calls: Calls, answer: BuiltAnswer): Promise<void> {
  for (let part = 1; (part - 1) * answer.partSize < answer.content.length; part++)
    await done(calls, "POST", answerPath(answer.id), null, await answer.part(part));
}

export const finishOf = ({ call }: Calls, answer: BuiltAnswer, body: unknown = answer.finish): Promise<Answer> =>
  call("PUT", answerPath(answer.id), null, { body, headers: answer.headers });

export async function answerRequest(
  calls: Calls,
  request: { requestId: string; linkAuth: string },
  bytes?: number,
): Promise<BuiltAnswer> {
  const answer = await beginAnswer(calls, request, bytes);
  await sendParts(calls, answer);
  const { status, text } = await finishOf(calls, answer);
  if (status !== 200) throw new Error(text);
  return answer;
}
