import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";

import { PartFields, type ReceivedPart } from "@relicario/shared/api";
import type { FastifyRequest } from "fastify";

import { withLockedAccount } from "../accounts/lock-account.ts";
import type { Db, Tx } from "../db/database.ts";
import { Problem } from "../http/problem.ts";
import { discardObject, reserveObject, publishObject } from "../objects/orphaned-objects.ts";
import type { Services } from "../services/services.ts";
import { toFormProblem, parseFields, readForm } from "./form.ts";
import { findPart, insertPart, countParts, getPartSize } from "./queries.ts";

/*
 * [Note: Parts] A part is an object of its own, and stays one when the upload is published, or the
 * answer finished: nothing is ever copied.
 *
 * 1. The form's fields come first, so that number and digest are known before the first byte; a
 *    form that announces more than its part holds is refused there. Copies of one part take turns
 *    (http/part-lock.ts).
 * 2. The object is reserved, then written as it arrives ([Note: Objects and rows]). A
 *    wrong size or digest is found at the last byte, before the store gives the object its name, so
 *    there is nothing to take back.
 * 3. One transaction makes it a part of the upload, or the answer. A part that is there already
 *    stays; the same bytes once more are counted and compared, and not kept.
 */

/** How long a part may take to arrive: 64 MiB at 300 kbit/s. */
export const partTimeoutSeconds = 30 * 60;

/** Boundaries, names and headers of a form around its data. */
const maxFormOverheadBytes = 4 * 1024;

/** What parts are received for: an upload, or an answer to a request. */
export interface PartsTarget {
  readonly accountId: string;
  readonly id: string;
  readonly size: number;
  readonly partSize: number;
  /** What the keys of its objects begin with. */
  readonly objectPrefix: string;
  /** @throws Problem when no more parts are taken. */
  requireOpen(db: Db | Tx): Promise<void>;
  /** A part came, so it has time again. */
  extend(tx: Tx): Promise<void>;
}

/**
 * @throws Problem `not_found`, `conflict` for another part of that number, `digest_mismatch`,
 *   `validation_error`, …
 */
export async function receivePart(
  services: Services,
  target: PartsTarget,
  request: FastifyRequest,
): Promise<ReceivedPart> {
  const contentLength = Number(request.headers["content-length"] ?? 0);
  if (contentLength > target.partSize + maxFormOverheadBytes) throw new Problem("payload_too_large");
  const fields: Record<string, unknown> = {};
  for await (const item of readForm(request, { fields: 2, files: 1, fileBytes: target.partSize + 1 })) {
    if (item.type === "field") {
      fields[item.fieldname] = item.value;
      continue;
    }
    const partFields = parsePartFields(fields, target);
    if (contentLength > getPartSize(target, partFields.part) + maxFormOverheadBytes)
      throw createInvalidFieldProblem("/data", "too_long");
    return services.partLock.runExclusively(`${target.id}/${String(partFields.part)}`, request.raw, () =>
      storePart(services, target, partFields, item.file),
    );
  }
  throw createInvalidFieldProblem("/data", "missing");
}

async function storePart(
  services: Services,
  target: PartsTarget,
  { part, sha256 }: PartFields,
  data: Readable,
): Promise<ReceivedPart> {
  const { db, objects } = services;
  const { accountId, id } = target;
  const size = getPartSize(target, part);
  const expectedDigest = Buffer.from(sha256, "base64url");
  const receivedPart = { part, size, sha256 };
  const verifiedStream = Readable.from(verifyBytes(data, size, expectedDigest), { objectMode: false });

  if (await isPartStored(db, target, part, expectedDigest)) {
    for await (const _ of verifiedStream); // they have to be the same bytes all the same
    return receivedPart;
  }
  const objectKey = `${target.objectPrefix}${randomBytes(12).toString("base64url")}`;
  await reserveObject(db, accountId, objectKey, services.now());
  let isStored = false;
  try {
    await objects.put(objectKey, verifiedStream);
    isStored = await withLockedAccount(services, accountId, async (tx) => {
      await target.requireOpen(tx);
      if (await isPartStored(tx, target, part, expectedDigest)) return false;
      await insertPart(tx, { accountId, uploadId: id, part, sha256: expectedDigest, objectKey });
      await target.extend(tx);
      await publishObject(tx, accountId, objectKey);
      return true;
    });
  } catch (error) {
    // After a failure that is no refusal the commit may have taken place: then the object stays,
    // and is collected if it is orphaned.
    if (error instanceof Problem) await discardObject(db, objects, accountId, objectKey);
    throw error;
  }
  if (!isStored) await discardObject(db, objects, accountId, objectKey);
  return receivedPart;
}

/**
 * True when this part is there. @throws Problem `conflict` when it is there with other bytes: two
 * contents would be mixed.
 */
async function isPartStored(
  db: Db | Tx,
  { accountId, id }: PartsTarget,
  part: number,
  sha256: Buffer,
): Promise<boolean> {
  const storedPart = await findPart(db, accountId, id, part);
  if (storedPart !== null && !storedPart.sha256.equals(sha256))
    throw new Problem("conflict", { detail: "this part is there with other bytes" });
  return storedPart !== null;
}

/**
 * The bytes, passed on as they come; the end is reached only when they are those that were
 * announced.
 */
async function* verifyBytes(data: Readable, size: number, sha256: Buffer): AsyncGenerator<Buffer> {
  const digest = createHash("sha256");
  let receivedBytes = 0;
  for await (const chunk of mapReadErrors(data)) {
    receivedBytes += chunk.length;
    if (receivedBytes > size) throw createInvalidFieldProblem("/data", "too_long");
    digest.update(chunk);
    yield chunk;
  }
  if (receivedBytes < size) throw createInvalidFieldProblem("/data", "too_short");
  if (!digest.digest().equals(sha256)) throw new Problem("digest_mismatch");
}

/** A connection that was lost is no fault of the store that the bytes go to. */
async function* mapReadErrors(data: Readable): AsyncGenerator<Buffer> {
  try {
    yield* data as AsyncIterable<Buffer>;
  } catch (cause) {
    throw toFormProblem(cause);
  }
}

function parsePartFields(values: Readonly<Record<string, unknown>>, target: PartsTarget): PartFields {
  const fields = parseFields(PartFields, values);
  if (fields.part > countParts(target)) throw createInvalidFieldProblem("/part", "too_big");
  return fields;
}

function createInvalidFieldProblem(path: string, reason: string): Problem {
  return new Problem("validation_error", { members: { errors: [{ path, reason }] } });
}
