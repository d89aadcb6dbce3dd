import { z } from "zod";

import { KeyringChange } from "./keyring.ts";
import { maxRequestDocumentLength, maxSealedBytes, maxPartBytes, maxTicketBytes, minPartBytes } from "./limits.ts";
import { ReceivedPart } from "./uploads.ts";
import { base64urlBytes, compactJwe, PositiveInt, Digest, Id, Timestamp } from "./wire.ts";

/** 128 random bits, made by the client. */
export const RequestId = base64urlBytes(16, { exact: true });
const LinkProof = base64urlBytes(32, { exact: true });

/**
 * Body of `POST /requests`: somebody is asked for a secret. `document` opens with the link key
 * alone.
 */
export const CreateRequestBody = z.strictObject({
  request_id: RequestId,
  document: compactJwe(maxRequestDocumentLength),
  link_auth_sha256: Digest,
  expires_at: Timestamp,
  /** Bytes of the sealed content. */
  max_size: PositiveInt.max(maxSealedBytes),
  /** Mail to the owner when something came. */
  notify: z.boolean().optional(),
  keyring: KeyringChange,
});
export type CreateRequestBody = z.infer<typeof CreateRequestBody>;

export const RequestWriteResponse = z.strictObject({ request_id: RequestId, state_rev: PositiveInt });

export const RequestState = z.enum(["awaiting", "provided", "collected", "expired", "revoked"]);

/** Answer of `GET /requests?get_expired=`. */
export const RequestList = z.strictObject({
  requests: z.array(
    z.strictObject({
      request_id: RequestId,
      state: RequestState,
      created_at: Timestamp,
      expires_at: Timestamp,
      max_size: PositiveInt,
      /** Bytes of the sealed answer; null before it came, and once it went. */
      size: PositiveInt.nullable(),
      provided_at: Timestamp.nullable(),
      collected_at: Timestamp.nullable(),
    }),
  ),
});
export type RequestList = z.infer<typeof RequestList>;

/** Body of `DELETE /requests/{request_id}`: revokes it, or drops what was collected. */
export const DropRequestBody = z.strictObject({ keyring: KeyringChange });
/** Body of `PATCH /requests/{request_id}`. The content goes 7 days later. */
export const MarkCollectedBody = z.strictObject({ state: z.literal("collected"), keyring: KeyringChange });

/** Body of `POST /requests/get`, for whoever has the link: a look that costs nothing. */
export const GetRequestBody = z.strictObject({ request_id: RequestId, link_auth: LinkProof });
export const RequestOffer = z.strictObject({
  document: compactJwe(maxRequestDocumentLength),
  state: RequestState,
  max_size: PositiveInt,
  part_size: PositiveInt,
  expires_at: Timestamp,
});
export type RequestOffer = z.infer<typeof RequestOffer>;

/**
 * `GET`, `PUT` and parts (`POST`) of one answer. Its token goes in the header {@link
 * answerTokenHeader}.
 */
export function answerPath(answerId: string): string {
  return `/requests/answer/${answerId}`;
}
export const answerTokenHeader = "x-answer-token";

/** Body of `POST /requests/answer`. Sizes in bytes of sealed content. */
export const StartAnswerBody = z.strictObject({
  request_id: RequestId,
  link_auth: LinkProof,
  size: PositiveInt.max(maxSealedBytes),
  /** A wish: the answer's `part_size` counts. */
  part_size: PositiveInt.min(minPartBytes).max(maxPartBytes).optional(),
});
export const StartAnswerResponse = z.strictObject({
  answer_id: Id,
  token: z.string().max(512),
  part_size: PositiveInt,
  parts: PositiveInt,
  expires_at: Timestamp,
});

/** Parts are sent as those of an upload (`buildPartForm`). Answer of `GET`: what is there. */
export const AnswerState = z.strictObject({
  answer_id: Id,
  size: PositiveInt,
  part_size: PositiveInt,
  parts: PositiveInt,
  received: z.array(ReceivedPart),
  expires_at: Timestamp,
  finished: z.boolean(),
});

/**
 * Body of `PUT`: the first finish of a request wins, another gets `request_closed`; the same one,
 * byte for byte, answers as the first time.
 */
export const FinishAnswerBody = z.strictObject({ ticket: base64urlBytes(maxTicketBytes), content_sha256: Digest });
export const FinishAnswerResponse = z.strictObject({ provided_at: Timestamp });

/**
 * Body of `POST /requests/collect`, by the owner; only reads. `download` as in {@link
 * ShareClaim}, for `POST /share/content`.
 */
export const CollectAnswerBody = z.strictObject({ request_id: RequestId });
export const CollectAnswerResponse = z.strictObject({
  ticket: base64urlBytes(maxTicketBytes),
  provided_at: Timestamp,
  download: z.strictObject({ token: z.string().max(512), size: z.int().min(0), expires_at: Timestamp }),
});
