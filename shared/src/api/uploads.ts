import { z } from "zod";

import { TicketSignature } from "./authority.ts";
import { KeyringChange } from "./keyring.ts";
import { maxLabelLength, maxPartBytes, maxParts, maxSealedBytes, maxTicketBytes, minPartBytes } from "./limits.ts";
import { base64urlBytes, compactJwe, Counter, Digest, Id, maxCounter, PositiveInt, Timestamp } from "./wire.ts";

/*
 * Large contents are uploaded in parts: start the upload, send each part, finish it. Parts are
 * numbered from 1. Each has `part_size` bytes; the last may have fewer.
 *
 * An unfinished upload is not visible to other calls. It is deleted 24 hours after its last part.
 */

/** Path for `POST`, `GET`, `PUT` and `DELETE` of one upload. */
export function uploadPath(uploadId: string): string {
  return `/v2/secrets/secret/upload/${uploadId}`;
}

const formCounter = z.coerce.number().int().min(1);

/**
 * Form fields of `POST /v2/secrets/secret` (multipart/form-data). Sizes in bytes of sealed content.
 */
export const StartUploadFields = z.strictObject({
  size: formCounter.max(maxSealedBytes),
  /** Proposed size; the `part_size` of the response applies. */
  part_size: formCounter.min(minPartBytes).max(maxPartBytes).optional(),
  secret_db_id: Id,
  /** Version that the content replaces. Absent for a new secret. */
  base_version: formCounter.max(maxCounter).optional(),
});
export type StartUploadFields = z.infer<typeof StartUploadFields>;

export const StartUploadResponse = z.strictObject({
  upload_id: Id,
  secret_db_id: Id,
  part_size: PositiveInt,
  /** Number of parts to send. */
  parts: Counter,
  expires_at: Timestamp,
});
export type StartUploadResponse = z.infer<typeof StartUploadResponse>;

/**
 * Form fields of a part, sent before its file `data`. `sha256` is the digest of the part's bytes.
 */
export const PartFields = z.strictObject({ part: formCounter.max(maxCounter), sha256: Digest });
export type PartFields = z.infer<typeof PartFields>;

/** Builds the form of a part. Its fields are in the order in which the service can stream them. */
export function buildPartForm({ part, sha256 }: PartFields, data: Blob): FormData {
  const form = new FormData();
  form.set("part", String(part));
  form.set("sha256", sha256);
  form.set("data", data, "part"); // the same name for every part, so that it reveals nothing
  return form;
}

export const ReceivedPart = z.strictObject({ part: Counter, size: PositiveInt, sha256: Digest });
export type ReceivedPart = z.infer<typeof ReceivedPart>;

/**
 * Response of `GET` of an upload: the received parts, by number. After the upload is finished the
 * state is `published`, without parts.
 */
export const UploadState = z.strictObject({
  upload_id: Id,
  secret_db_id: Id,
  base_version: Counter.nullable(),
  size: PositiveInt,
  part_size: PositiveInt,
  parts: Counter,
  received: z.array(ReceivedPart).max(maxParts),
  expires_at: Timestamp,
  published: z.strictObject({ version: Counter, state_rev: PositiveInt }).nullable(),
});
export type UploadState = z.infer<typeof UploadState>;

/**
 * Body of `PUT` of an upload. Publishes the upload as the next version, in one transaction with the
 * keyring change. The response is {@link StoreSecretResponse}.
 *
 * `base_version` replaces the value from the start of the upload. So the content is not sent again
 * when another device has saved in the meantime.
 */
export const FinishUploadBody = z.strictObject({
  label: compactJwe(maxLabelLength),
  ticket: base64urlBytes(maxTicketBytes),
  ticket_sig: TicketSignature,
  /** Digest of the whole sealed content. */
  content_sha256: Digest,
  base_version: Counter.optional(),
  keyring: KeyringChange,
});
export type FinishUploadBody = z.infer<typeof FinishUploadBody>;
