import { base64urlBytes, compactJwe, Digest, maxBookLength, Timestamp } from "@relicario/shared/api";
import { z } from "zod";

import { defineDocumentWithInner } from "./document-with-inner.ts";

const RequestId = base64urlBytes(16, { exact: true });

/**
 * What the metadata keys show of what the account asked others for. There is none before the first
 * request.
 */
export const Requests = z.strictObject({
  v: z.literal(1),
  requests: z.array(
    z.strictObject({
      request_id: RequestId,
      title: z.string(),
      created_at: Timestamp,
      expires_at: Timestamp,
      state: z.enum(["open", "collected", "revoked"]),
      /** Of the answer's ticket, from its first opening on: another one is refused later. */
      answer_sha256: Digest.nullable(),
    }),
  ),
  /** {@link RequestsInner}, sealed. */
  inner: compactJwe(maxBookLength),
});
export type Requests = z.infer<typeof Requests>;

/** What the account key alone shows. */
export const RequestsInner = z.strictObject({
  v: z.literal(1),
  requests: z.array(
    z.strictObject({ request_id: RequestId, link_key: base64urlBytes(32, { exact: true }), note: z.string() }),
  ),
});
export type RequestsInner = z.infer<typeof RequestsInner>;

export const {
  seal: sealRequests,
  open: openRequests,
  sealInner: sealRequestsInner,
  openInner: openRequestsInner,
} = defineDocumentWithInner("requests", Requests, RequestsInner);
