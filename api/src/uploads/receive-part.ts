import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";

import { PartFields, type ReceivedPart } from "@relicario/shared/api";
import type { FastifyRequest } from "fastify";

import { Problem } from "../http/problem.ts";
import { changeAccount } from "../keyring/queries.ts";
import { abandon, announce, publish } from "../objects/loose.ts";
import { versionAfter } from "../secrets/signed-call.ts";
import type { Services } from "../services.ts";
import { brokenForm, parseFields, readForm } from "./form.ts";
import type { OwnUploads } from "./policy.ts";
import { findPart, findUpload, insertPart, partCount, partSizeOf, type UploadRow } from "./queries.ts";
import { expiryAfter } from "./start.ts";

/*
 * [Note: Parts] A part is an object of its own, and stays one when the upload is published: nothing is ever copied.
 *
 * 1. The form's fields come first, so that number and digest are known before the first byte; a form that announces more
 *    than its part holds is refused there. Copies of one part take turns (parts-in-flight.ts).
 * 2. The object is announced as loose, then written as it arrives ([Note: Objects and rows]). A wrong size or digest is
 *    found at the last byte, before the store gives the object its name, so there is nothing to take back.
 * 3. One transaction makes it a part of the upload. A part that is there already stays; the same bytes once more are
 *    counted and compared, and not kept.
 */

/** Boundaries, names and headers of a form around its data. */
const maxFormBytes = 4 * 1024;

/** @throws Problem `not_found`, `conflict` for another part of that number, `digest_mismatch`, `validation_error`, … */
export async function receivePart(services: Services, own: OwnUploads, uploadId: string, request: FastifyRequest): Promise<ReceivedPart> {
  const upload = await requireOpen(services, own, uploadId);
  const formBytes = Number(request.headers["content-length"] ?? 0);
  if (formBytes > upload.partSize + maxFormBytes) throw new Problem("payload_too_large");
  const fields: Record<string, unknown> = {};
  for await (const item of readForm(request, { fields: 2, files: 1, fileBytes: upload.partSize + 1 })) {
    if (item.type === "field") {
      fields[item.fieldname] = item.value;
      continue;
    }
    const announced = fieldsOf(fields, upload);
    if (formBytes > partSizeOf(upload, announced.part) + maxFormBytes) throw wrong("/data", "too_long");
    return services.parts.alone(`${upload.id}/${String(announced.part)}`, request.raw, () => keepPart(services, own, upload, announced, item.file));
  }
  throw wrong("/data", "missing");
}

async function keepPart(services: Services, own: OwnUploads, upload: UploadRow, { part, sha256 }: PartFields, data: Readable): Promise<ReceivedPart> {
  const { db, objects } = services;
  const size = partSizeOf(upload, part);
  const expected = Buffer.from(sha256, "base64url");
  const received = { part, size, sha256 };
  const bytes = Readable.from(checked(data, size, expected), { objectMode: false });

  if (await isThere(services, own, upload, part, expected)) {
    for await (const _ of bytes); // they have to be the same bytes all the same
    return received;
  }
  const version = versionAfter(upload.baseVersion ?? undefined);
  const objectKey = `${own.accountId}/${upload.secretId}/${String(version)}-${randomBytes(12).toString("base64url")}`;
  await announce(db, own.accountId, objectKey, services.now());
  let kept = false;
  try {
    await objects.put(objectKey, bytes);
    kept = await changeAccount(services, own.accountId, async (tx) => {
      await requireOpen(services, own, upload.id, tx);
      if (await isThere(services, own, upload, part, expected, tx)) return false;
      await insertPart(tx, { accountId: own.accountId, uploadId: upload.id, part, sha256: expected, objectKey }, expiryAfter(services.now()));
      await publish(tx, own.accountId, objectKey);
      return true;
    });
  } catch (error) {
    // After a failure that is no refusal the commit may have taken place: then the object stays, and is collected if it is loose.
    if (error instanceof Problem) await abandon(db, objects, own.accountId, objectKey);
    throw error;
  }
  if (!kept) await abandon(db, objects, own.accountId, objectKey);
  return received;
}

/** True when this part is there. @throws Problem `conflict` when it is there with other bytes: two contents would be mixed. */
async function isThere({ db }: Services, own: OwnUploads, { id }: UploadRow, part: number, sha256: Buffer, tx?: Parameters<typeof findPart>[0]): Promise<boolean> {
  const there = await findPart(tx ?? db, own, id, part);
  if (there !== null && !there.sha256.equals(sha256)) throw new Problem("conflict", { detail: "this part is there with other bytes" });
  return there !== null;
}

async function requireOpen({ db, now }: Services, own: OwnUploads, id: string, tx?: Parameters<typeof findUpload>[0]): Promise<UploadRow> {
  const upload = await findUpload(tx ?? db, own, id, now());
  if (upload === null) throw new Problem("not_found");
  if (upload.publishedVersion !== null) throw new Problem("conflict", { detail: "this upload is published" });
  return upload;
}

/** The bytes, passed on as they come; the end is reached only when they are those that were announced. */
async function* checked(data: Readable, size: number, sha256: Buffer): AsyncGenerator<Buffer> {
  const digest = createHash("sha256");
  let count = 0;
  for await (const piece of unbroken(data)) {
    count += piece.length;
    if (count > size) throw wrong("/data", "too_long");
    digest.update(piece);
    yield piece;
  }
  if (count < size) throw wrong("/data", "too_short");
  if (!digest.digest().equals(sha256)) throw new Problem("digest_mismatch");
}

/** A connection that was lost is no fault of the store that the bytes go to. */
async function* unbroken(data: Readable): AsyncGenerator<Buffer> {
  try {
    yield* data as AsyncIterable<Buffer>;
  } catch (cause) {
    throw brokenForm(cause);
  }
}

function fieldsOf(values: Readonly<Record<string, unknown>>, upload: UploadRow): PartFields {
  const fields = parseFields(PartFields, values);
  if (fields.part > partCount(upload)) throw wrong("/part", "too_big");
  return fields;
}

function wrong(path: string, reason: string): Problem {
  return new Problem("validation_error", { members: { errors: [{ path, reason }] } });
}
