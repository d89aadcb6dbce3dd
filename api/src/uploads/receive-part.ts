import { Readable } from "node:stream";

import { PartFields, type ReceivedPart } from "@relicario/shared/api";
import { verifyBytes, WrongBytesError } from "@relicario/tooling/objects";
import type { FastifyRequest } from "fastify";

import { withLockedAccount, type AccountRow } from "../accounts/lock-account.ts";
import type { Db, Tx } from "../db/database.ts";
import { Problem } from "../http/problem.ts";
import { publishObjects, storeObjects } from "../objects/orphaned-objects.ts";
import type { Services } from "../services/services.ts";
import { toFormProblem, parseFields, readForm } from "./form.ts";
import { findPart, insertPart, countParts, getPartSize } from "./queries.ts";

/*
 * [Note: Parts] Each part is an object and remains one when the upload is published or the answer
 * finished: nothing is copied.
 *
 * 1. The form's fields come first, so that number and digest are known before the data; a form
 *    larger than its part is refused there. Copies of one part wait for each other
 *    (http/part-lock.ts).
 * 2. The object is reserved, then written as it arrives ([Note: Objects and rows]). A wrong size or
 *    digest fails before the store receives the last bytes: nothing is stored.
 * 3. One transaction adds it to the upload or answer. A part that is stored already stays; its
 *    repetition is verified and discarded.
 */

/** 64 MiB at 300 kbit/s. */
export const partTimeoutSeconds = 30 * 60;

/** Bytes of a form around its data: boundaries, names, headers. */
const maxFormOverheadBytes = 4 * 1024;

/** What receives parts: an upload, or an answer to a request. */
export interface PartsTarget {
  readonly accountId: string;
  readonly id: string;
  readonly size: number;
  readonly partSize: number;
  readonly createObjectKey: () => string;
  /** @throws Problem when it takes no more parts. */
  requireOpen(db: Db | Tx): Promise<void>;
  /**
   * Extends the expiry, and charges what was not charged at the start. @throws Problem
   * `quota_exceeded`
   */
  recordPart(tx: Tx, account: AccountRow, bytes: number): Promise<void>;
}

/**
 * @throws Problem `not_found`, `conflict` for another part with this number, `digest_mismatch`,
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
  for await (const item of readForm(request, { maxFields: 2, maxFiles: 1, maxFileBytes: target.partSize + 1 })) {
    if (item.type === "field") {
      fields[item.fieldname] = item.value;
      continue;
    }
    const partFields = parsePartFields(fields, target);
    if (contentLength > getPartSize(target, partFields.part) + maxFormOverheadBytes)
      throw createInvalidFieldProblem("/data", "too_long");
    return services.partLock.runExclusively(`${target.id}/${String(partFields.part)}`, request.raw, () =>
      storePart(services, target, partFields, item.file).catch((error: unknown) => {
        throw toPartProblem(error);
      }),
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
  const { db } = services;
  const { accountId, id } = target;
  const size = getPartSize(target, part);
  const expectedDigest = Buffer.from(sha256, "base64url");
  const expected = { size, sha256: expectedDigest };
  const receivedPart = { part, size, sha256 };
  const bytes = Readable.from(mapReadErrors(data), { objectMode: false });

  if (await isPartStored(db, target, part, expectedDigest)) {
    for await (const _ of verifyBytes(bytes, expected)); // a repetition must have the same bytes
    return receivedPart;
  }
  const objectKey = target.createObjectKey();
  return storeObjects(services, accountId, [{ objectKey, bytes, ...expected }], services.now(), () =>
    withLockedAccount(services, accountId, async (tx, account) => {
      await target.requireOpen(tx);
      if (await isPartStored(tx, target, part, expectedDigest)) return { result: receivedPart, publishedKeys: [] };
      await insertPart(tx, { accountId, uploadId: id, part, sha256: expectedDigest, objectKey });
      await target.recordPart(tx, account, size);
      await publishObjects(tx, accountId, [objectKey]);
      return { result: receivedPart, publishedKeys: [objectKey] };
    }),
  );
}

/**
 * Whether this part is stored. @throws Problem `conflict` when it has other bytes: two contents
 * would be mixed
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

function toPartProblem(error: unknown): unknown {
  if (!(error instanceof WrongBytesError)) return error;
  return error.reason === "other_digest"
    ? new Problem("digest_mismatch")
    : createInvalidFieldProblem("/data", error.reason);
}

/** A lost connection is not a failure of the object store. */
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
