import {
  CollectAnswerResponse,
  type CreateRequestBody,
  type KeyringChange,
  RequestList,
  RequestWriteResponse,
} from "@relicario/shared/api";
import type { HttpClient } from "@relicario/shared/contract";
import { z } from "zod";

import { readPages } from "./read-pages.ts";

/** The requester's calls. Those with a keyring change are idempotent. */
export interface RequestCalls {
  /** Throws `limit_reached` if there are too many open requests. */
  readonly create: (body: CreateRequestBody) => Promise<unknown>;
  /** Includes ended requests. */
  readonly list: (signal?: AbortSignal) => Promise<RequestList["requests"]>;
  /**
   * Does not mark the answer as collected. Throws `not_found` without an answer, and `content_gone`
   * after its removal.
   */
  readonly collect: (requestId: string, signal?: AbortSignal) => Promise<z.infer<typeof CollectAnswerResponse>>;
  readonly markCollected: (requestId: string, keyring: KeyringChange) => Promise<unknown>;
  /** Revokes an open request, or removes its answer. */
  readonly drop: (requestId: string, keyring: KeyringChange) => Promise<unknown>;
}

export function createRequestCalls(http: HttpClient): RequestCalls {
  const signalOption = (signal: AbortSignal | undefined): { signal?: AbortSignal } =>
    signal === undefined ? {} : { signal };
  return {
    create: (body) => http.request("POST", "/requests", RequestWriteResponse, { body }),
    list: (signal) =>
      readPages(async (cursor) => {
        const page = await http.request("GET", "/requests", RequestList, {
          query: { get_expired: true, ...(cursor === undefined ? {} : { cursor }) },
          ...signalOption(signal),
        });
        return { rows: page.requests, nextCursor: page.next_cursor, stateRev: page.state_rev };
      }),
    collect: (requestId, signal) =>
      http.request("POST", "/requests/collect", CollectAnswerResponse, {
        body: { request_id: requestId },
        ...signalOption(signal),
      }),
    markCollected: (requestId, keyring) =>
      http.request("PATCH", `/requests/${requestId}`, z.unknown(), { body: { state: "collected", keyring } }),
    drop: (requestId, keyring) => http.request("DELETE", `/requests/${requestId}`, z.unknown(), { body: { keyring } }),
  };
}
