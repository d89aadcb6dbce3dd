import { z } from "zod";

import { KeyringChange } from "./keyring.ts";
import { maxLabelLength, maxPartBytes, maxSealedBytes, maxTicketBytes, minPartBytes } from "./limits.ts";
import { base64urlBytes, compactJwe, PositiveInt, Digest, Id, Timestamp } from "./wire.ts";

/*
 * Large contents go in parts: start, each part, finish. Parts are numbered from 1; all have
 * `part_size` bytes but the last, which has the rest. Until it is finished an upload is invisible;
 * 24 hours after its last part it is dropped.
 */

/** `POST`, `GET`, `PUT` and `DELETE` of one upload. */
export function uploadPath(uploadId: string): string {
  return `/v2/secrets/secret/upload/${uploadId}`;
}

const formCounter = z.coerce.number().int().min(1);

/**
 * Fields of the form of `POST /v2/secrets/secret` (multipart/form-data). Sizes in bytes of sealed
 * content.
 */
export const StartUploadFields = z.strictObject({
  size: formCounter.max(maxSealedBytes),
  /** A wish: the answer's `part_size` counts. */
  part_size: formCounter.min(minPartBytes).max(maxPartBytes).optional(),
  secret_db_id: Id,
  /** Absent for a new secret, else the version that the content follows. */
  base_version: formCounter.optional(),
});
export type StartUploadFields = z.infer<typeof StartUploadFields>;

export const StartUploadResponse = z.strictObject({
  upload_id: Id,
  secret_db_id: Id,
  part_size: PositiveInt,
  /** How many parts there are to send. */
  parts: PositiveInt,
  expires_at: Timestamp,
});
export type StartUploadResponse = z.infer<typeof StartUploadResponse>;

/**
 * Fields of the form of one part, before its file `data`. `sha256` is over the bytes of the part.
 */
export const PartFields = z.strictObject({ part: formCounter, sha256: Digest });
export type PartFields = z.infer<typeof PartFields>;

/** The form of one part, its fields in the order in which the service can stream it. */
export function buildPartForm({ part, sha256 }: PartFields, data: Blob): FormData {
  const form = new FormData();
  form.set("part", String(part));
  form.set("sha256", sha256);
  form.set("data", data, "part"); // the name is the same for every part and says nothing
  return form;
}

export const ReceivedPart = z.strictObject({ part: PositiveInt, size: PositiveInt, sha256: Digest });
export type ReceivedPart = z.infer<typeof ReceivedPart>;

/**
 * `GET` of an upload: what is there, by part number. `published` once it was finished; its parts
 * are then none.
 */
export const UploadState = z.strictObject({
  upload_id: Id,
  secret_db_id: Id,
  base_version: PositiveInt.nullable(),
  size: PositiveInt,
  part_size: PositiveInt,
  parts: PositiveInt,
  received: z.array(ReceivedPart),
  expires_at: Timestamp,
  published: z.strictObject({ version: PositiveInt, state_rev: PositiveInt }).nullable(),
});
export type UploadState = z.infer<typeof UploadState>;

/**
 * `PUT` of an upload: publishes it as the next version, in one transaction with the keyring change.
 * The answer is {@link StoreSecretResponse}. `base_version` replaces that of the start, so that a
 * content is not sent again because another device saved first.
 */
export const FinishUploadBody = z.strictObject({
  label: compactJwe(maxLabelLength),
  ticket: base64urlBytes(maxTicketBytes),
  /** Over the whole sealed content. */
  content_sha256: Digest,
  base_version: PositiveInt.optional(),
  keyring: KeyringChange,
});
export type FinishUploadBody = z.infer<typeof FinishUploadBody>;
