import { bytesB64u, compactJwe, Digest, maxBookLength, Timestamp } from "@relicario/shared/api";
import { z } from "zod";

import type { AccountKey, TitlesKeys } from "./account-key.ts";
import { jweTypes, openJwe, sealJwe, type JweHeader } from "./document.ts";
import { openInner, sealInner } from "./inner.ts";

const RequestId = bytesB64u(16, { exact: true });

/** What the titles keys show of what the account asked others for. There is none before the first request. */
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
  requests: z.array(z.strictObject({ request_id: RequestId, link_key: bytesB64u(32, { exact: true }), note: z.string() })),
});
export type RequestsInner = z.infer<typeof RequestsInner>;

function header(userId: string, keys: TitlesKeys): JweHeader {
  return { typ: jweTypes.requests, user_id: userId, key_epoch: keys.keyEpoch };
}

export function sealRequests(keys: TitlesKeys, userId: string, requests: Requests): Promise<string> {
  return sealJwe(keys.requests, header(userId, keys), requests);
}

/** @throws PortalError `decryption_failed`. */
export function openRequests(keys: TitlesKeys, userId: string, jwe: string): Promise<Requests> {
  return openJwe(keys.requests, header(userId, keys), jwe, Requests);
}

export function sealRequestsInner(accountKey: AccountKey, userId: string, inner: RequestsInner): Promise<string> {
  return sealInner(accountKey, userId, "requests", inner);
}

/** @throws PortalError `decryption_failed`. */
export function openRequestsInner(accountKey: AccountKey, userId: string, requests: Requests): Promise<RequestsInner> {
  return openInner(accountKey, userId, "requests", requests.inner, RequestsInner);
}
