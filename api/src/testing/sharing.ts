import { randomBytes } from "node:crypto";

import {
  answerPath,
  answerTokenHeader,
  buildPartForm,
  OwnShare,
  type CreateRequestBody,
  type CreateShareBody,
  type FinishAnswerBody,
  type Json,
} from "@relicario/shared/api";
import { z } from "zod";

import {
  buildChange,
  buildJwe,
  buildSecret,
  confirmChange,
  type Person,
  type BuiltSecret,
  type Signer,
  signTicket,
} from "./person.ts";
import type { TestResponse, CallOptions, Method, TestService } from "./service.ts";
import { encodeForm, sha256B64u, type EncodedForm } from "./upload.ts";

export const createPublicId = (): string => randomBytes(16).toString("base64url");
const createRandomB64u = (bytes: number): string => randomBytes(bytes).toString("base64url");
const digestB64u = (text: string): string => sha256B64u(Buffer.from(text, "base64url"));

/** A change with the document of shares or requests, as a device makes it. */
export function buildChangeWithDocument(
  person: Signer,
  document: "shares" | "requests",
  overrides: Readonly<Record<string, Json | undefined>> = {},
) {
  return buildChange(person, {
    [document]: buildJwe({ typ: `relicario-${document}`, user_id: person.userId, key_epoch: 1 }),
    ...overrides,
  });
}

export const formatDaysFromNow = (days: number, from = new Date()): string =>
  new Date(from.getTime() + days * 86_400_000).toISOString();

/** The proofs of a link's holder. */
export interface LinkCredentials {
  readonly shareId: string;
  readonly linkAuth: string;
  readonly passAuth: string;
}

export interface BuiltShare extends LinkCredentials {
  readonly body: CreateShareBody;
}

/** A body of `POST /share`; with `recipient` for a person. */
export function buildShare(
  person: Signer,
  secretId: string,
  {
    change = {},
    ...overrides
  }: Partial<CreateShareBody> & { change?: Readonly<Record<string, Json | undefined>> } = {},
): BuiltShare {
  const [shareId, linkAuth, passAuth] = [createPublicId(), createRandomB64u(32), createRandomB64u(32)];
  const audience = overrides.recipient === undefined ? "public" : "person";
  const digests =
    audience === "person" ? {} : { link_auth_sha256: digestB64u(linkAuth), pass_auth_sha256: digestB64u(passAuth) };
  const { version = 1, ticket = createRandomB64u(2_000) } = overrides;
  const body: CreateShareBody = {
    ...{ share_id: shareId, secret_db_id: secretId, version, audience, ticket, ...digests },
    ...{
      ticket_sig: signTicket(person, { secretId, version, ticket, shareId: overrides.share_id ?? shareId }),
      password: false,
      expires_at: formatDaysFromNow(7),
      keyring: buildChangeWithDocument(person, "shares", change),
      ...overrides,
    },
  };
  return { shareId, linkAuth, passAuth, body };
}

export const buildOpening = (
  { shareId, linkAuth, passAuth }: LinkCredentials,
  claimId: string | undefined = createRandomB64u(16),
) => ({
  share_id: shareId,
  link_auth: linkAuth,
  pass_auth: passAuth,
  claim_id: claimId,
});

/** A body of `POST /requests`, with the proof of its link. */
export function buildRequest(
  person: Signer,
  overrides: Partial<CreateRequestBody> = {},
): { body: CreateRequestBody; requestId: string; linkAuth: string } {
  const [requestId, linkAuth] = [createPublicId(), createRandomB64u(32)];
  const requestDocument = buildJwe({ typ: "relicario-request", request_id: requestId });
  const body = {
    request_id: requestId,
    document: requestDocument,
    link_auth_sha256: digestB64u(linkAuth),
    expires_at: formatDaysFromNow(7),
    max_size: 20_000_000,
    keyring: buildChangeWithDocument(person, "requests"),
    ...overrides,
  };
  return { body, requestId, linkAuth };
}

/** Calls on this service. */
export type ServiceCalls = Pick<TestService, "call">;

/** @throws Error for a response other than 200 */
export async function callOk(
  { call }: ServiceCalls,
  method: Method,
  path: string,
  token: string | null,
  options: CallOptions = {},
): Promise<TestResponse> {
  const response = await call(method, path, token, options);
  if (response.status !== 200)
    throw new Error(`${method} ${path} was answered ${String(response.status)} ${response.text.slice(0, 300)}`);
  return response;
}

export async function storeSecret(
  calls: ServiceCalls,
  person: Person,
  options: Parameters<typeof buildSecret>[1] = {},
): Promise<BuiltSecret & { readonly id: string }> {
  const secret = buildSecret(person, options);
  await callOk(calls, "POST", "/secrets/store", person.token, { body: secret.body });
  confirmChange(person, secret.body.keyring);
  return { ...secret, id: secret.body.secret_db_id };
}

export async function createShare(
  calls: ServiceCalls,
  person: Person,
  secretId: string,
  overrides: Parameters<typeof buildShare>[2] = {},
): Promise<BuiltShare> {
  const share = buildShare(person, secretId, overrides);
  await callOk(calls, "POST", "/share", person.token, { body: share.body });
  confirmChange(person, share.body.keyring);
  return share;
}

/** A new person with a shared secret. */
export async function createSharedSecret(
  service: TestService,
  overrides: Parameters<typeof buildShare>[2] = {},
): Promise<{ owner: Person; secret: Awaited<ReturnType<typeof storeSecret>>; share: BuiltShare }> {
  const owner = await service.signIn();
  const secret = await storeSecret(service, owner);
  return { owner, secret, share: await createShare(service, owner, secret.id, overrides) };
}

export async function listShares(
  calls: ServiceCalls,
  person: Person,
  secretId: string,
  { includeEnded = true } = {},
): Promise<OwnShare[]> {
  const { body } = await callOk(
    calls,
    "GET",
    `/sharelist/${secretId}${includeEnded ? "?get_expired=true" : ""}`,
    person.token,
  );
  return z.object({ shares: z.array(OwnShare) }).parse(body).shares;
}

export async function createRequest(
  calls: ServiceCalls,
  person: Person,
  overrides: Partial<CreateRequestBody> = {},
): Promise<ReturnType<typeof buildRequest>> {
  const request = buildRequest(person, overrides);
  await callOk(calls, "POST", "/requests", person.token, { body: request.body });
  confirmChange(person, request.body.keyring);
  return request;
}

export async function deleteRequest(calls: ServiceCalls, person: Person, requestId: string): Promise<void> {
  const keyring = buildChangeWithDocument(person, "requests");
  await callOk(calls, "DELETE", `/requests/${requestId}`, person.token, { body: { keyring } });
  confirmChange(person, keyring);
}

export interface StartedAnswer {
  readonly id: string;
  readonly token: string;
  readonly content: Buffer;
  readonly partSize: number;
  readonly finishBody: FinishAnswerFields;
  readonly headers: Readonly<Record<string, string>>;
  buildPartForm(number: number): Promise<EncodedForm>;
}
type FinishAnswerFields = z.infer<typeof FinishAnswerBody>;

/** Starts an answer of an anonymous sender. */
export async function startAnswer(
  calls: ServiceCalls,
  { requestId, linkAuth }: { requestId: string; linkAuth: string },
  bytes = 5_000,
): Promise<StartedAnswer> {
  const { body } = await callOk(calls, "POST", "/requests/answer", null, {
    body: { request_id: requestId, link_auth: linkAuth, size: bytes },
  });
  const content = randomBytes(bytes);
  const partSize = Number(body["part_size"]);
  const headers = { [answerTokenHeader]: String(body["token"]) };
  return {
    ...{ id: String(body["answer_id"]), token: String(body["token"]), content, partSize, headers },
    finishBody: { ticket: createRandomB64u(1_500), content_sha256: sha256B64u(content) },
    async buildPartForm(number) {
      const data = Uint8Array.from(content.subarray((number - 1) * partSize, number * partSize));
      const form = await encodeForm(buildPartForm({ part: number, sha256: sha256B64u(data) }, new Blob([data])));
      return { ...form, headers: { ...form.headers, ...headers } };
    },
  };
}

export async function sendParts(calls: ServiceCalls, answer: StartedAnswer): Promise<void> {
  for (let part = 1; (part - 1) * answer.partSize < answer.content.length; part++)
    await callOk(calls, "POST", answerPath(answer.id), null, await answer.buildPartForm(part));
}

export const finishAnswer = (
  { call }: ServiceCalls,
  answer: StartedAnswer,
  body: unknown = answer.finishBody,
): Promise<TestResponse> => call("PUT", answerPath(answer.id), null, { body, headers: answer.headers });

export async function answerRequest(
  calls: ServiceCalls,
  request: { requestId: string; linkAuth: string },
  bytes?: number,
): Promise<StartedAnswer> {
  const answer = await startAnswer(calls, request, bytes);
  await sendParts(calls, answer);
  const { status, text } = await finishAnswer(calls, answer);
  if (status !== 200) throw new Error(text);
  return answer;
}
