import { base64urlBytes, compactJwe, Digest, maxBookLength, Timestamp } from "@relicario/shared/api";
import { z } from "zod";

import { defineDocumentWithInner } from "./document-with-inner.ts";

const RequestId = base64urlBytes(16, { exact: true });

/** The account's requests as opened with the metadata keys. Missing before the first request. */
export const Requests = z.strictObject({
  v: z.literal(1),
  requests: z.array(
    z.strictObject({
      request_id: RequestId,
      title: z.string(),
      created_at: Timestamp,
      expires_at: Timestamp,
      state: z.enum(["open", "collected", "revoked"]),
      /**
       * Digest of the answer's ticket, set at the first opening; another ticket is refused later.
       */
      answer_sha256: Digest.nullable(),
    }),
  ),
  /** Sealed {@link RequestsInner}. */
  inner: compactJwe(maxBookLength),
});
export type Requests = z.infer<typeof Requests>;

/** The part of the requests that only the account key opens. */
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
