import { FinishUpload, fromB64u, PartFields, StartUpload, toB64u } from "@relicario/shared/api";
import type { HttpMethod, HttpOptions, HttpStream } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { concat, copyOf, sha256 } from "../seal/bytes.ts";
import { newId } from "../seal/ids.ts";
import { applyChange, refuseTooMany, touch, type FakeAccount, type FakeUpload } from "./fake-account.ts";

/** Small, and no multiple of a piece, so that every test has several. */
export const fakePartBytes = 100_000;

const now = "2026-11-21T10:00:00.000Z";
const prefix = "/v2/secrets/secret/upload/";

/** The calls of uploads in parts, by the service's rules. Undefined for any other path. */
export async function handleUpload(account: FakeAccount, userId: string, method: HttpMethod, path: string, body: unknown): Promise<unknown> {
  if (`${method} ${path}` === "POST /v2/secrets/secret") return start(account, StartUpload.parse(Object.fromEntries(requireForm(body))));
  if (!path.startsWith(prefix)) return undefined;
  const id = path.slice(prefix.length);
  const upload = account.uploads?.get(id);
  if (upload === undefined) throw new PortalError("not_found");
  if (method === "GET") return present(id, upload);
  if (method === "POST") return receive(upload, requireForm(body));
  if (method === "PUT") return finish(account, userId, upload, FinishUpload.parse(JSON.parse(JSON.stringify(body))));
  if (upload.published !== null) throw new PortalError("conflict");
  account.uploads?.delete(id);
  return null;
}

/** A range of a stored content. */
export function handleStream(account: FakeAccount, { body, headers }: HttpOptions): HttpStream {
  const { secret_db_id: id, version } = body as { secret_db_id: string; version: number };
  const content = account.rows.get(id)?.versions[version - 1]?.content;
  if (content === undefined) throw new PortalError("not_found");
  const bytes = copyOf(fromB64u(content));
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers?.["range"] ?? "") ?? [];
  const start = Number(from ?? 0);
  return { size: bytes.length, start, body: new Blob([bytes.slice(start, to === undefined ? undefined : Number(to) + 1)]).stream() };
}

function requireForm(body: unknown): FormData {
  if (!(body instanceof FormData)) throw new PortalError("validation_error");
  return body;
}

function start(account: FakeAccount, { size, secret_db_id: secretId, base_version: base }: StartUpload): unknown {
  const there = account.rows.get(secretId)?.versions.length;
  if (base === undefined && there !== undefined) throw new PortalError("id_taken");
  if (base !== undefined && base !== there) throw new PortalError("version_conflict");
  refuseTooMany(account, account.rows.get(secretId));
  const id = newId(Date.now());
  const upload: FakeUpload = { secretId, baseVersion: base ?? null, size, parts: new Map(), published: null };
  account.uploads = new Map(account.uploads).set(id, upload);
  const { secret_db_id, part_size, parts, expires_at } = present(id, upload);
  return { upload_id: id, secret_db_id, part_size, parts, expires_at };
}

function present(id: string, { secretId, baseVersion, size, parts, published }: FakeUpload) {
  return {
    upload_id: id,
    secret_db_id: secretId,
    base_version: baseVersion,
    size,
    part_size: fakePartBytes,
    parts: Math.ceil(size / fakePartBytes),
    received: [...parts].map(([part, bytes]) => ({ part, size: bytes.length, sha256: toB64u(sha256(bytes)) })),
    expires_at: now,
    published: published === null ? null : { version: published.version, state_rev: published.stateRev },
  };
}

/** A part of the right number, length and digest; never in the place of another one. */
async function receive({ size, parts, published }: FakeUpload, form: FormData): Promise<unknown> {
  const { part, sha256: expected } = PartFields.parse({ part: form.get("part"), sha256: form.get("sha256") });
  const data = form.get("data");
  if (!(data instanceof Blob)) throw new PortalError("validation_error");
  const bytes = new Uint8Array(await data.arrayBuffer());
  if (published !== null) throw new PortalError("conflict");
  if (bytes.length !== Math.min(size, part * fakePartBytes) - (part - 1) * fakePartBytes) throw new PortalError("validation_error");
  if (toB64u(sha256(bytes)) !== expected) throw new PortalError("digest_mismatch");
  const before = parts.get(part);
  if (before !== undefined && toB64u(sha256(before)) !== expected) throw new PortalError("conflict");
  parts.set(part, bytes);
  return { part, size: bytes.length, sha256: expected };
}

function finish(account: FakeAccount, userId: string, upload: FakeUpload, body: FinishUpload): unknown {
  const { secretId, size, parts, published } = upload;
  const call = JSON.stringify(body);
  if (published !== null) {
    if (published.body !== call) throw new PortalError("conflict");
    return { secret_db_id: secretId, version: published.version, state_rev: published.stateRev };
  }
  if (parts.size < Math.ceil(size / fakePartBytes)) throw new PortalError("upload_incomplete");
  const content = concat(...[...parts].sort(([left], [right]) => left - right).map(([, bytes]) => bytes));
  if (toB64u(sha256(content)) !== body.content_sha256) throw new PortalError("digest_mismatch");
  const row = account.rows.get(secretId) ?? { favorite: false, createdAt: now, updatedAt: now, deletedAt: null, versions: [] };
  if (upload.baseVersion !== null && (body.base_version ?? upload.baseVersion) !== row.versions.length) throw new PortalError("version_conflict");
  refuseTooMany(account, row);
  const stateRev = applyChange(account, userId, body.keyring);
  row.versions.push({ label: body.label, ticket: body.ticket, content: toB64u(content), createdAt: now });
  account.rows.set(secretId, row);
  touch(account, row);
  parts.clear();
  upload.published = { version: row.versions.length, stateRev, body: call };
  return { secret_db_id: secretId, version: row.versions.length, state_rev: stateRev };
}
