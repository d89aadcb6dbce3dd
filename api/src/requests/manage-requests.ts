import {
  maxOpenRequests,
  requestLifetimeDays,
  type CreateRequestBody,
  type KeyringChange,
} from "@relicario/shared/api";
import type { z } from "zod";

import type { RequestWriteResponse } from "@relicario/shared/api";

import { withLockedAccount, type AccountRow } from "../accounts/lock-account.ts";
import { chargeStorage, quotaReserveBytes } from "../accounts/storage-used.ts";
import type { ActivityEvent } from "../activity/record-activity.ts";
import type { AccountScope } from "../auth/actor.ts";
import type { Tx } from "../db/database.ts";
import { requests } from "../db/schema.ts";
import { parseExpiry } from "../http/parse-expiry.ts";
import { Problem } from "../http/problem.ts";
import { applyChange, createChangeCall, findRecordedResponse, requireDocument } from "../keyring/apply-change.ts";
import { readKeyring } from "../keyring/queries.ts";
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
 * @throws Problem `limit_reached`, `id_taken`, `payload_too_large` for more than the vendor takes,
 *   `validation_error` for a time, and those of a keyring change.
 */
export function createRequest(
  services: Services,
  scope: AccountScope,
  { keyring, ...rest }: CreateRequestBody,
  context: RequestContext,
): Promise<WriteResponse> {
  const vendor = services.vendors.require(scope.vendorId);
  const { request_id: requestId, document, max_size: maxSize } = rest;
  return withKeyringChange(
    services,
    scope,
    keyring,
    rest,
    requestId,
    context,
    async (tx) => {
      if (maxSize > vendor.contentBytes)
        throw new Problem("payload_too_large", { members: { limit: vendor.contentBytes } });
      const expiresAt = parseExpiry(rest.expires_at, requestLifetimeDays.maximum, context.now);
      if ((await countOpenRequests(tx, scope.accountId, context.now)) >= maxOpenRequests)
        throw new Problem("limit_reached", { members: { limit: maxOpenRequests } });
      await registerPublicId(tx, { publicId: requestId, kind: "request", accountId: scope.accountId });
      await tx.insert(requests).values({
        ...{
          accountId: scope.accountId,
          requestId,
          document,
          linkAuthSha256: Buffer.from(rest.link_auth_sha256, "base64url"),
        },
        ...{ maxSize, notify: rest.notify ?? false, createdAt: context.now, expiresAt },
      });
      return document.length;
    },
    { kind: "request_made" },
  );
}

/**
 * Revokes a request; drops what came. Whoever is sending an answer learns of it at their next call.
 * @throws Problem `not_found`, and those of a keyring change.
 */
export function dropRequest(
  services: Services,
  scope: AccountScope,
  requestId: string,
  keyringChange: KeyringChange,
  context: RequestContext,
): Promise<WriteResponse> {
  return withKeyringChange(
    services,
    scope,
    keyringChange,
    { request_id: requestId, drop: true },
    requestId,
    context,
    async (tx) => {
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
      return -freedBytes;
    },
  );
}

/** @throws Problem `not_found`, `conflict` when nothing came, and those of a keyring change. */
export function markCollected(
  services: Services,
  scope: AccountScope,
  requestId: string,
  keyringChange: KeyringChange,
  context: RequestContext,
): Promise<WriteResponse> {
  return withKeyringChange(
    services,
    scope,
    keyringChange,
    { request_id: requestId, state: "collected" },
    requestId,
    context,
    async (tx) => {
      const request = await requireRequest(tx, scope, requestId);
      const state = getRequestState(request, context.now);
      if (state !== "provided" && state !== "collected")
        throw new Problem("conflict", { detail: "nothing came that could be collected" });
      if (state === "provided") await updateRequest(tx, scope.accountId, requestId, { collectedAt: context.now });
      return 0;
    },
  );
}

/**
 * [Note: Keyring changes] for calls about a request. `operation` returns the bytes that are kept
 * more than before.
 */
function withKeyringChange(
  services: Services,
  scope: AccountScope,
  keyringChange: KeyringChange,
  rest: Parameters<typeof createChangeCall>[1],
  requestId: string,
  context: RequestContext,
  operation: (tx: Tx, account: AccountRow) => Promise<number>,
  event?: ActivityEvent,
): Promise<WriteResponse> {
  const vendor = services.vendors.require(scope.vendorId);
  const call = createChangeCall(keyringChange, rest);
  requireDocument(keyringChange, "requests");
  const result = { request_id: requestId, state_rev: keyringChange.state_rev };
  return withLockedAccount(services, scope.accountId, async (tx, account) => {
    const stored = await readKeyring(tx, scope);
    if (findRecordedResponse(stored, call) !== null) return result;
    const rowBytes = await operation(tx, account);
    const changeBytes = await applyChange(tx, account, stored, call, null, services, context);
    await chargeStorage(
      tx,
      vendor,
      account,
      changeBytes + rowBytes,
      quotaReserveBytes,
      event === undefined ? undefined : { event, now: context.now },
    );
    return result;
  });
}

async function requireRequest(tx: Tx, { accountId }: AccountScope, requestId: string): Promise<RequestRow> {
  const request = await findRequest(tx, accountId, requestId);
  if (request === null) throw new Problem("not_found");
  return request;
}
