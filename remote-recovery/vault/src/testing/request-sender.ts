import { fromBase64url } from "@relicario/shared/api";
import type { HttpClient, RequestPreview, ProvidedSecret, SecretRequest } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import {
  answerRequest,
  inspectRequest,
  type AnswerOptions,
  type AnswerDeps,
  type RequestLink,
  type AnswerReceipt,
} from "../requests/answer.ts";
import { createAnswerCalls } from "../requests/answer-calls.ts";
import { openAnswerRecords, type AnswerRecords } from "../requests/answer-records.ts";
import { createRequest, type CreatedRequest } from "../requests/create-request.ts";
import { createResumableDigest } from "../transfer/resumable-digest.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { FakeRequest } from "./fake-account.ts";
import type { World } from "./world.ts";

/** A browser that opened the link of a request. */
export interface RequestSender extends RequestLink {
  readonly deps: AnswerDeps;
  readonly records: AnswerRecords;
  /** Milliseconds since 1970 */
  readonly clock: { now: number };
  readonly inspect: () => Promise<RequestPreview>;
  readonly answer: (provided: ProvidedSecret, options?: AnswerOptions) => Promise<AnswerReceipt>;
}

/** Opens a page by a link (path and fragment), with the records that the browser stored. */
export async function openRequestSender(
  { service }: { readonly service: { readonly http: HttpClient } },
  link: string,
  clock = { now: Date.now() },
): Promise<RequestSender> {
  const [path = "", key = ""] = link.split("#s=");
  const requestLink: RequestLink = { requestId: path.replace("/request/", ""), linkKey: fromBase64url(key) };
  const now = (): number => clock.now;
  const records = await openAnswerRecords(now);
  const deps: AnswerDeps = {
    calls: createAnswerCalls(service.http),
    openRecords: () => Promise.resolve(records),
    createDigest: createResumableDigest,
    retryPolicy: {
      wait: (_milliseconds, signal) => {
        return signal.aborted
          ? Promise.reject(new PortalError("cancelled", { cause: signal.reason }))
          : Promise.resolve();
      },
    },
    now,
  };
  return {
    ...requestLink,
    deps,
    records,
    clock,
    inspect: () => inspectRequest(deps, requestLink),
    answer: (provided, options) => answerRequest(deps, requestLink, provided, options),
  };
}

export function makeRequest(vault: Pick<VaultSession, "now">, overrides: Partial<SecretRequest> = {}): SecretRequest {
  return {
    title: "The deed",
    note: "for the notary",
    requesterName: "José",
    expiresAt: new Date(vault.now() + 7 * 86_400_000).toISOString(),
    maxSize: 10_000_000,
    notify: false,
    ...overrides,
  };
}

/** Creates a request and opens its link. */
export async function createRequestWithSender(
  world: World,
  vault: VaultSession,
  overrides: Partial<SecretRequest> = {},
): Promise<CreatedRequest & { readonly sender: RequestSender }> {
  const created = await createRequest(vault, makeRequest(vault, overrides), null);
  return { ...created, sender: await openRequestSender(world, created.link) };
}

export function requireStoredRequest(world: World, requestId: string): FakeRequest {
  const request = world.service.account.requests?.get(requestId);
  if (request === undefined) throw new TypeError("expected a stored request");
  return request;
}

export function makeTextAnswer(text: string, note = ""): ProvidedSecret {
  return { contentKind: "text", name: "words.txt", mime: "text/plain", content: new Blob([text]), note };
}

export function makeFileAnswer(content: Blob, note = ""): ProvidedSecret {
  return { contentKind: "file", name: "film.mp4", mime: "video/mp4", content, note };
}
