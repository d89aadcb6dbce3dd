import { maxOpenRequests, requestDays, type CreateRequest, type KeyringChange } from "@relicario/shared/api";
import type { z } from "zod";

import type { RequestStored } from "@relicario/shared/api";

import type { Noted } from "../activity/note.ts";
import type { Tx } from "../db/database.ts";
import { requests } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import { applyChange, callOf, repeatOf, requireDocument, type Circumstances } from "../keyring/apply-change.ts";
import { changeAccount, readKeyring, type AccountRow } from "../keyring/queries.ts";
import { enterPublicId } from "../public-ids/directory.ts";
import { countStored, reserveBytes } from "../secrets/quota.ts";
import type { Services } from "../services.ts";
import { expiryOf } from "../shares/make.ts";
import type { OwnRequests } from "./policy.ts";
import {
  countOpen,
  dropContent,
  dropUnfinished,
  findRequest,
  stateOf,
  updateRequest,
  type RequestRow,
} from "./queries.ts";

type Stored = z.infer<typeof RequestStored>;

/**
 * @throws Problem `limit_reached`, `id_taken`, `payload_too_large` for more than the vendor takes,
 *   `validation_error` for a time, and those of a keyring change.
 */
export function makeRequest(
  services: Services,
  own: OwnRequests,
  { keyring, ...rest }: CreateRequest,
  when: Circumstances,
): Promise<Stored> {
  const vendor = services.vendors.require(own.vendorId);
  const { request_id: requestId, document, max_size: maxSize } = rest;
  return withChange(
    services,
    own,
    keyring,
    rest,
    requestId,
    when,
    async (tx) => {
      if (maxSize > vendor.contentBytes)
        throw new Problem("payload_too_large", { members: { limit: vendor.contentBytes } });
      const expiresAt = expiryOf(rest.expires_at, requestDays.most, when.now);
      if ((await countOpen(tx, own.accountId, when.now)) >= maxOpenRequests)
        throw new Problem("limit_reached", { members: { limit: maxOpenRequests } });
      await enterPublicId(tx, { publicId: requestId, kind: "request", accountId: own.accountId });
      await tx.insert(requests).values({
        ...{
          accountId: own.accountId,
          requestId,
          document,
          linkAuthSha256: Buffer.from(rest.link_auth_sha256, "base64url"),
        },
        ...{ maxSize, notify: rest.notify ?? false, createdAt: when.now, expiresAt },
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
  own: OwnRequests,
  requestId: string,
  keyring: KeyringChange,
  when: Circumstances,
): Promise<Stored> {
  return withChange(services, own, keyring, { request_id: requestId, drop: true }, requestId, when, async (tx) => {
    const request = await requireRequest(tx, own, requestId);
    const isCollected = request.collectedAt !== null;
    const freed =
      (await dropContent(tx, request, when.now)) +
      (await dropUnfinished(tx, request, when.now)) +
      (request.document?.length ?? 0);
    await updateRequest(tx, own.accountId, requestId, {
      document: null,
      ...(isCollected || request.revokedAt !== null ? {} : { revokedAt: when.now }),
    });
    return -freed;
  });
}

/** @throws Problem `not_found`, `conflict` when nothing came, and those of a keyring change. */
export function markCollected(
  services: Services,
  own: OwnRequests,
  requestId: string,
  keyring: KeyringChange,
  when: Circumstances,
): Promise<Stored> {
  return withChange(
    services,
    own,
    keyring,
    { request_id: requestId, state: "collected" },
    requestId,
    when,
    async (tx) => {
      const request = await requireRequest(tx, own, requestId);
      const state = stateOf(request, when.now);
      if (state !== "provided" && state !== "collected")
        throw new Problem("conflict", { detail: "nothing came that could be collected" });
      if (state === "provided") await updateRequest(tx, own.accountId, requestId, { collectedAt: when.now });
      return 0;
    },
  );
}

/**
 * [Note: Keyring changes] for calls about a request. `work` returns the bytes that are kept more
 * than before.
 */
function withChange(
  services: Services,
  own: OwnRequests,
  keyring: KeyringChange,
  rest: Parameters<typeof callOf>[1],
  requestId: string,
  when: Circumstances,
  work: (tx: Tx, account: AccountRow) => Promise<number>,
  noted?: Noted,
): Promise<Stored> {
  const vendor = services.vendors.require(own.vendorId);
  const call = callOf(keyring, rest);
  requireDocument(keyring, "requests");
  const answer = { request_id: requestId, state_rev: keyring.state_rev };
  return changeAccount(services, own.accountId, async (tx, account) => {
    const stored = await readKeyring(tx, own);
    if (repeatOf(stored, call) !== null) return answer;
    const more = await work(tx, account);
    const added = await applyChange(tx, account, stored, call, null, services, when);
    await countStored(
      tx,
      vendor,
      account,
      added + more,
      reserveBytes,
      noted === undefined ? undefined : { noted, now: when.now },
    );
    return answer;
  });
}

async function requireRequest(tx: Tx, { accountId }: OwnRequests, requestId: string): Promise<RequestRow> {
  const request = await findRequest(tx, accountId, requestId);
  if (request === null) throw new Problem("not_found");
  return request;
}
