import {
  maxOpenRequests,
  requestLifetimeDays,
  type CreateRequestBody,
  type KeyringChange,
} from "@relicario/shared/api";
import type { z } from "zod";

import type { RequestWriteResponse } from "@relicario/shared/api";

import type { AccountScope } from "../auth/actor.ts";
import type { Tx } from "../db/database.ts";
import { requests } from "../db/schema.ts";
import { parseExpiry } from "../http/parse-expiry.ts";
import { Problem } from "../http/problem.ts";
import { withDocumentChange } from "../keyring/with-document-change.ts";
import type { RequestContext } from "../language/language.ts";
import { registerPublicId } from "../public-ids/directory.ts";
import type { Services } from "../services/services.ts";
import {
  countOpenRequests,
  dropAnswerContent,
  deleteUnfinishedAnswers,
  findRequest,
  getRequestState,
  updateRequest,
  type RequestRow,
} from "./queries.ts";

type WriteResponse = z.infer<typeof RequestWriteResponse>;

/**
 * @throws Problem `limit_reached`, `id_taken`, `payload_too_large` beyond the vendor's limit,
 *   `validation_error` for the expiry, and those of a keyring change.
 */
export function createRequest(
  services: Services,
  scope: AccountScope,
  { keyring, ...rest }: CreateRequestBody,
  context: RequestContext,
): Promise<WriteResponse> {
  const { maxContentBytes } = services.vendors.require(scope.vendorId);
  const { accountId } = scope;
  const { request_id: requestId, document, max_size: maxSize } = rest;
  const call = { document: "requests", keyring, rest, ids: { request_id: requestId } } as const;
  return withDocumentChange(services, scope, call, context, async (tx) => {
    if (maxSize > maxContentBytes) throw new Problem("payload_too_large", { members: { limit: maxContentBytes } });
    const expiresAt = parseExpiry(rest.expires_at, requestLifetimeDays.maximum, context.now);
    if ((await countOpenRequests(tx, accountId, context.now)) >= maxOpenRequests)
      throw new Problem("limit_reached", { members: { limit: maxOpenRequests } });
    await registerPublicId(tx, { publicId: requestId, kind: "request", accountId });
    const linkAuthSha256 = Buffer.from(rest.link_auth_sha256, "base64url");
    await tx.insert(requests).values({
      ...{ accountId, requestId, document, linkAuthSha256 },
      ...{ maxSize, notify: rest.notify ?? false, createdAt: context.now, expiresAt },
    });
    return { addedBytes: document.length, event: { kind: "request_made" } };
  });
}

/**
 * Revokes a request and drops its answer. Unfinished answers fail at their next call.
 *
 * @throws Problem `not_found`, and those of a keyring change.
 */
export function dropRequest(
  services: Services,
  scope: AccountScope,
  requestId: string,
  keyring: KeyringChange,
  context: RequestContext,
): Promise<WriteResponse> {
  const ids = { request_id: requestId };
  const call = { document: "requests", keyring, rest: { ...ids, drop: true }, ids } as const;
  return withDocumentChange(services, scope, call, context, async (tx) => {
    const request = await requireRequest(tx, scope, requestId);
    const isCollected = request.collectedAt !== null;
    const freedBytes =
      (await dropAnswerContent(tx, request, context.now)) +
      (await deleteUnfinishedAnswers(tx, request, context.now)) +
      (request.document?.length ?? 0);
    await updateRequest(tx, scope.accountId, requestId, {
      document: null,
      ...(isCollected || request.revokedAt !== null ? {} : { revokedAt: context.now }),
    });
    // revoking a request that nobody answered takes the signing key alone
    return { addedBytes: -freedBytes, needsAuthor: request.answerId !== null };
  });
}

/** @throws Problem `not_found`, `conflict` without an answer, and those of a keyring change. */
export function markCollected(
  services: Services,
  scope: AccountScope,
  requestId: string,
  keyring: KeyringChange,
  context: RequestContext,
): Promise<WriteResponse> {
  const ids = { request_id: requestId };
  const call = { document: "requests", keyring, rest: { ...ids, state: "collected" }, ids } as const;
  return withDocumentChange(services, scope, call, context, async (tx) => {
    const request = await requireRequest(tx, scope, requestId);
    const state = getRequestState(request, context.now);
    if (state !== "provided" && state !== "collected")
      throw new Problem("conflict", { detail: "there is no answer to collect" });
    if (state === "provided") await updateRequest(tx, scope.accountId, requestId, { collectedAt: context.now });
    return { addedBytes: 0, needsAuthor: true };
  });
}

async function requireRequest(tx: Tx, { accountId }: AccountScope, requestId: string): Promise<RequestRow> {
  const request = await findRequest(tx, accountId, requestId);
  if (request === null) throw new Problem("not_found");
  return request;
}
