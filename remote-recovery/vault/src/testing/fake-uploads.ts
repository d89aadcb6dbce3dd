import {
  FinishUploadBody,
  PartFields,
  StartUploadFields,
  toBase64url,
  uploadPath,
  type ReceivedPart,
} from "@relicario/shared/api";
import type { HttpMethod } from "@relicario/shared/contract";

import { concatBytes, copyOf, sha256, type Bytes } from "../seal/bytes.ts";
import { newId } from "../seal/ids.ts";
import {
  addVersion,
  refusal,
  requireNoConflict,
  requireVersionSpace,
  type FakeAccount,
  type FakeUpload,
} from "./fake-account.ts";
import { applyChange, findRepeatedCall, requireLabel } from "./fake-change.ts";

/** Small, so that every test has several parts, and not a multiple of a chunk. */
export const fakePartBytes = 100_000;

const fixedTime = "2026-11-21T10:00:00.000Z";
const uploadPathPrefix = uploadPath("");

/** Returns undefined for any other path. */
export async function handleUpload(
  account: FakeAccount,
  userId: string,
  method: HttpMethod,
  path: string,
  body: unknown,
): Promise<unknown> {
  if (`${method} ${path}` === "POST /v2/secrets/secret")
    return startUpload(account, StartUploadFields.parse(Object.fromEntries(requireForm(body))));
  if (!path.startsWith(uploadPathPrefix)) return undefined;
  const id = path.slice(uploadPathPrefix.length);
  const upload = account.uploads?.get(id);
  if (upload === undefined) throw refusal("not_found");
  if (method === "GET") return presentUpload(id, upload);
  if (method === "PUT") return finishUpload(account, userId, upload, FinishUploadBody.parse(body));
  if (upload.published !== null) throw refusal("conflict");
  if (method === "POST") return receivePart(upload, requireForm(body));
  account.uploads?.delete(id);
  return null;
}

interface PartedContent {
  readonly size: number;
  /** By number, from 1 */
  readonly parts: Map<number, Bytes>;
}

export function requireForm(body: unknown): FormData {
  if (!(body instanceof FormData)) throw refusal("validation_error");
  return body;
}

export function countParts({ size }: Pick<PartedContent, "size">): number {
  return Math.ceil(size / fakePartBytes);
}

export function listReceivedParts({ parts }: PartedContent): ReceivedPart[] {
  return [...parts]
    .sort(([left], [right]) => left - right)
    .map(([part, bytes]) => ({ part, size: bytes.length, sha256: toBase64url(sha256(bytes)) }));
}

/** Never replaces a different part. */
export async function receivePart({ size, parts }: PartedContent, form: FormData): Promise<ReceivedPart> {
  const { part, sha256: expectedSha256 } = PartFields.parse({ part: form.get("part"), sha256: form.get("sha256") });
  const data = form.get("data");
  if (!(data instanceof Blob) || part > countParts({ size })) throw refusal("validation_error");
  const existingPart = parts.get(part);
  if (existingPart !== undefined && toBase64url(sha256(existingPart)) !== expectedSha256) throw refusal("conflict");
  const bytes = new Uint8Array(await data.arrayBuffer());
  if (bytes.length !== Math.min(size, part * fakePartBytes) - (part - 1) * fakePartBytes)
    throw refusal("validation_error");
  if (toBase64url(sha256(bytes)) !== expectedSha256) throw refusal("digest_mismatch");
  parts.set(part, bytes);
  return { part, size: bytes.length, sha256: expectedSha256 };
}

/** @throws PortalError `upload_incomplete`, `digest_mismatch` */
export function joinParts({ size, parts }: PartedContent, contentSha256: string): Bytes {
  if (parts.size < countParts({ size })) throw refusal("upload_incomplete");
  const content = copyOf(concatBytes(...[...parts].sort(([left], [right]) => left - right).map(([, bytes]) => bytes)));
  if (toBase64url(sha256(content)) !== contentSha256) throw refusal("digest_mismatch");
  return content;
}

function startUpload(
  account: FakeAccount,
  {
    size,
    secret_db_id: secretId,
    base_version: baseVersion = null,
  }: Omit<StartUploadFields, "base_version"> & { readonly base_version?: number | null | undefined },
): unknown {
  requireNoConflict(account, secretId, baseVersion);
  requireVersionSpace(account, account.rows.get(secretId));
  const id = newId(Date.now());
  const upload: FakeUpload = { secretId, baseVersion, size, parts: new Map(), published: null };
  account.uploads = new Map(account.uploads).set(id, upload);
  const { secret_db_id, part_size, parts, expires_at } = presentUpload(id, upload);
  return { upload_id: id, secret_db_id, part_size, parts, expires_at };
}

function presentUpload(id: string, upload: FakeUpload) {
  const { secretId, baseVersion, size, published } = upload;
  return {
    upload_id: id,
    secret_db_id: secretId,
    base_version: baseVersion,
    size,
    part_size: fakePartBytes,
    parts: countParts(upload),
    received: listReceivedParts(upload),
    expires_at: fixedTime,
    published: published === null ? null : { version: published.version, state_rev: published.stateRev },
  };
}

function finishUpload(account: FakeAccount, userId: string, upload: FakeUpload, body: FinishUploadBody): unknown {
  const { secretId, baseVersion, parts, published } = upload;
  const { keyring, label, ticket } = body;
  const serializedBody = JSON.stringify(body);
  if (published !== null) {
    if (published.body !== serializedBody) throw refusal("conflict");
    return { secret_db_id: secretId, version: published.version, state_rev: published.stateRev };
  }
  if (baseVersion === null && body.base_version !== undefined) throw refusal("conflict");
  const effectiveBase = baseVersion === null ? null : (body.base_version ?? baseVersion);
  requireLabel(label, keyring, secretId, (effectiveBase ?? 0) + 1);
  const content = joinParts(upload, body.content_sha256);
  const { keyring: _, ...rest } = body;
  if (findRepeatedCall(account, keyring, { rest }) !== null) throw refusal("conflict");
  requireNoConflict(account, secretId, effectiveBase);
  requireVersionSpace(account, account.rows.get(secretId));
  const stateRev = applyChange(account, userId, keyring, {
    rest,
    secret: { id: secretId, version: (effectiveBase ?? 0) + 1 },
    tickets: [
      {
        ...{ signature: body.ticket_sig, secretId, version: (effectiveBase ?? 0) + 1, shareId: null, ticket },
        content: toBase64url(content),
      },
    ],
  });
  const version = addVersion(account, secretId, { label, ticket, content: toBase64url(content), createdAt: fixedTime });
  parts.clear();
  upload.published = { version, stateRev, body: serializedBody };
  return { secret_db_id: secretId, version, state_rev: stateRev };
}
