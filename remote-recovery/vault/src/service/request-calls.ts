import {
  CollectAnswerResponse,
  type CreateRequestBody,
  type KeyringChange,
  RequestList,
  RequestWriteResponse,
} from "@relicario/shared/api";
import type { HttpClient } from "@relicario/shared/contract";
import { z } from "zod";

/**
 * The calls of whoever asks others for secrets. Those with a keyring change answer the same bytes
 * as the first time.
 */
export interface RequestCalls {
  /** `limit_reached` with too many open ones. */
  readonly create: (body: CreateRequestBody) => Promise<unknown>;
  /** All that the service has, ended ones too. */
  readonly list: (signal?: AbortSignal) => Promise<RequestList["requests"]>;
  /** Only reads. `not_found` while there is no answer, `content_gone` once it went. */
  readonly collect: (requestId: string, signal?: AbortSignal) => Promise<z.infer<typeof CollectAnswerResponse>>;
  readonly markCollected: (requestId: string, keyring: KeyringChange) => Promise<unknown>;
  /** Revokes it, or drops the answer at once. */
  readonly drop: (requestId: string, keyring: KeyringChange) => Promise<unknown>;
}

export function createRequestCalls(http: HttpClient): RequestCalls {
  const signalOption = (signal: AbortSignal | undefined): { signal?: AbortSignal } =>
    signal === undefined ? {} : { signal };
  return {
    create: (body) => http.request("POST", "/requests", RequestWriteResponse, { body }),
    list: async (signal) =>
      (await http.request("GET", "/requests", RequestList, { query: { get_expired: true }, ...signalOption(signal) }))
        .requests,
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
