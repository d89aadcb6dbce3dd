import { FinishUpload, PartFields, StartUpload, toB64u, uploadPath, type ReceivedPart } from "@relicario/shared/api";
import type { HttpMethod } from "@relicario/shared/contract";

import { concat, copyOf, sha256, type Bytes } from "../seal/bytes.ts";
import { newId } from "../seal/ids.ts";
import { addVersion, fail, refuseConflicts, refuseTooMany, type FakeAccount, type FakeUpload } from "./fake-account.ts";
import { applyChange, repeatOf, requireLabel } from "./fake-change.ts";

/** Small, and no multiple of a piece, so that every test has several. */
export const fakePartBytes = 100_000;

const now = "2026-11-21T10:00:00.000Z";
const prefix = uploadPath("");

/** The calls of uploads in parts, by the service's rules. Undefined for any other path. */
export async function handleUpload(
  account: FakeAccount,
  userId: string,
  method: HttpMethod,
  path: string,
  body: unknown,
): Promise<unknown> {
  if (`${method} ${path}` === "POST /v2/secrets/secret")
    return start(account, StartUpload.parse(Object.fromEntries(requireForm(body))));
  if (!path.startsWith(prefix)) return undefined;
  const id = path.slice(prefix.length);
  const upload = account.uploads?.get(id);
  if (upload === undefined) throw fail("not_found");
  if (method === "GET") return present(id, upload);
  if (method === "PUT") return finish(account, userId, upload, FinishUpload.parse(body));
  if (upload.published !== null) throw fail("conflict");
  if (method === "POST") return receivePart(upload, requireForm(body));
  account.uploads?.delete(id);
  return null;
}

interface Parts {
  readonly size: number;
  /** By number, from 1. */
  readonly parts: Map<number, Bytes>;
}

export function requireForm(body: unknown): FormData {
  if (!(body instanceof FormData)) throw fail("validation_error");
  return body;
}

export function partCount({ size }: Pick<Parts, "size">): number {
  return Math.ceil(size / fakePartBytes);
}

export function receivedParts({ parts }: Parts): ReceivedPart[] {
  return [...parts]
    .sort(([left], [right]) => left - right)
    .map(([part, bytes]) => ({ part, size: bytes.length, sha256: toB64u(sha256(bytes)) }));
}

/** A part of the right number, length and digest; never in the place of another one. */
export async function receivePart({ size, parts }: Parts, form: FormData): Promise<ReceivedPart> {
  const { part, sha256: expected } = PartFields.parse({ part: form.get("part"), sha256: form.get("sha256") });
  const data = form.get("data");
  if (!(data instanceof Blob) || part > partCount({ size })) throw fail("validation_error");
  const before = parts.get(part);
  if (before !== undefined && toB64u(sha256(before)) !== expected) throw fail("conflict");
  const bytes = new Uint8Array(await data.arrayBuffer());
  if (bytes.length !== Math.min(size, part * fakePartBytes) - (part - 1) * fakePartBytes)
    throw fail("validation_error");
  if (toB64u(sha256(bytes)) !== expected) throw fail("digest_mismatch");
  parts.set(part, bytes);
  return { part, size: bytes.length, sha256: expected };
}

/** All parts in order. @throws PortalError `upload_incomplete`, `digest_mismatch` */
export function wholeOf({ size, parts }: Parts, contentSha256: string): Bytes {
  if (parts.size < partCount({ size })) throw fail("upload_incomplete");
  const content = copyOf(concat(...[...parts].sort(([left], [right]) => left - right).map(([, bytes]) => bytes)));
  if (toB64u(sha256(content)) !== contentSha256) throw fail("digest_mismatch");
  return content;
}

function start(
  account: FakeAccount,
  {
    size,
    secret_db_id: secretId,
    base_version: base = null,
  }: Omit<StartUpload, "base_version"> & { readonly base_version?: number | null | undefined },
): unknown {
  refuseConflicts(account, secretId, base);
  refuseTooMany(account, account.rows.get(secretId));
  const id = newId(Date.now());
  const upload: FakeUpload = { secretId, baseVersion: base, size, parts: new Map(), published: null };
  account.uploads = new Map(account.uploads).set(id, upload);
  const { secret_db_id, part_size, parts, expires_at } = present(id, upload);
  return { upload_id: id, secret_db_id, part_size, parts, expires_at };
}

function present(id: string, upload: FakeUpload) {
  const { secretId, baseVersion, size, published } = upload;
  return {
    upload_id: id,
    secret_db_id: secretId,
    base_version: baseVersion,
    size,
    part_size: fakePartBytes,
    parts: partCount(upload),
    received: receivedParts(upload),
    expires_at: now,
    published: published === null ? null : { version: published.version, state_rev: published.stateRev },
  };
}

function finish(account: FakeAccount, userId: string, upload: FakeUpload, body: FinishUpload): unknown {
  const { secretId, baseVersion, parts, published } = upload;
  const { keyring, label, ticket } = body;
  const call = JSON.stringify(body);
  if (published !== null) {
    if (published.body !== call) throw fail("conflict");
    return { secret_db_id: secretId, version: published.version, state_rev: published.stateRev };
  }
  if (baseVersion === null && body.base_version !== undefined) throw fail("conflict");
  const base = baseVersion === null ? null : (body.base_version ?? baseVersion);
  requireLabel(label, keyring, secretId, (base ?? 0) + 1);
  const content = wholeOf(upload, body.content_sha256);
  const { keyring: _, ...rest } = body;
  if (repeatOf(account, keyring, { rest }) !== null) throw fail("conflict");
  refuseConflicts(account, secretId, base);
  refuseTooMany(account, account.rows.get(secretId));
  const stateRev = applyChange(account, userId, keyring, { rest, secret: { id: secretId, version: (base ?? 0) + 1 } });
  const version = addVersion(account, secretId, { label, ticket, content: toB64u(content), createdAt: now });
  parts.clear();
  upload.published = { version, stateRev, body: call };
  return { secret_db_id: secretId, version, state_rev: stateRev };
}
