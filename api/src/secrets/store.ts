import { createHash, randomBytes } from "node:crypto";

import type { StoreSecretResponse, StoreSecretBody } from "@relicario/shared/api";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { incrementChangeCounter } from "../accounts/next-change.ts";
import { chargeStorage, quotaReserveBytes } from "../accounts/storage-used.ts";
import type { AccountScope } from "../auth/actor.ts";
import { Problem } from "../http/problem.ts";
import { applyChange, createChangeCall } from "../keyring/apply-change.ts";
import type { RequestContext } from "../language/language.ts";
import { discardObject, reserveObject, publishObject } from "../objects/orphaned-objects.ts";
import type { Services } from "../services/services.ts";
import { findSecret, readCounters, writeLabel, markRestored, writeVersion } from "./queries.ts";
import { rejectOverQuota } from "./quota.ts";
import { readCallState, checkLabelHeader, rejectConflicts, getNextVersion } from "./signed-call.ts";

type ContentBody = Extract<StoreSecretBody, { content: string }>;
type LabelBody = Exclude<StoreSecretBody, ContentBody | { restore: true }>;

export function storeSecret(
  services: Services,
  scope: AccountScope,
  body: StoreSecretBody,
  context: RequestContext,
): Promise<StoreSecretResponse> {
  if ("restore" in body) return restoreSecret(services, scope, body.secret_db_id, context.now);
  if ("content" in body) return storeContent(services, scope, body, context);
  return storeLabel(services, scope, body, context);
}

/**
 * [Note: Objects and rows] and [Note: Keyring changes] in one: the content is on disk before the
 * transaction publishes it.
 */
async function storeContent(
  services: Services,
  scope: AccountScope,
  { keyring, ...rest }: ContentBody,
  context: RequestContext,
): Promise<StoreSecretResponse> {
  const { db, objects } = services;
  const { now } = context;
  const vendor = services.vendors.require(scope.vendorId);
  const call = createChangeCall(keyring, rest);
  const { secret_db_id: id, base_version: baseVersion } = rest;
  const content = Buffer.from(rest.content, "base64url");
  const version = getNextVersion(baseVersion);
  checkLabelHeader(scope, keyring, rest.label, id, version);

  const objectKey = `${scope.accountId}/${id}/${String(version)}-${randomBytes(12).toString("base64url")}`;
  await reserveObject(db, scope.accountId, objectKey, now);
  try {
    await objects.put(objectKey, content);
    const outcome = await withLockedAccount(
      services,
      scope.accountId,
      async (tx, account): Promise<{ stored: StoreSecretResponse; published: boolean }> => {
        const { stored, recordedAnswer } = await readCallState(tx, scope, call);
        if (recordedAnswer !== null) return { stored: recordedAnswer, published: false };
        await rejectConflicts(tx, scope, id, baseVersion);
        await rejectOverQuota(tx, vendor, scope, account, [content.length], baseVersion === undefined ? 1 : 0);
        const changeBytes = await applyChange(tx, account, stored, call, { secretId: id, version }, services, context);
        await publishObject(tx, scope.accountId, objectKey);
        const contentSha256 = createHash("sha256").update(content).digest();
        const ticket = Buffer.from(rest.ticket, "base64url");
        const size = content.length;
        const newVersion = {
          id,
          version,
          label: rest.label,
          ticket,
          objects: [{ objectKey, sha256: contentSha256 }],
          partSize: size,
          contentSha256,
          size,
        };
        const rowBytes = await writeVersion(services, tx, scope, newVersion, {
          change: await incrementChangeCounter(tx, scope.accountId, {
            event: { kind: baseVersion === undefined ? "secret_added" : "secret_changed", secretId: id },
            now,
          }),
          now,
          maxVersions: vendor.formerVersions,
        });
        await chargeStorage(tx, vendor, account, changeBytes + rowBytes + size);
        return { stored: { secret_db_id: id, version, state_rev: keyring.state_rev }, published: true };
      },
    );
    if (!outcome.published) await discardObject(db, objects, scope.accountId, objectKey);
    return outcome.stored;
  } catch (error) {
    // A refusal rolled everything back. After any other failure the commit may have taken place,
    // its answer lost: then the object stays, and is collected in a day if it is orphaned.
    if (error instanceof Problem) await discardObject(db, objects, scope.accountId, objectKey);
    throw error;
  }
}

async function storeLabel(
  services: Services,
  scope: AccountScope,
  { keyring, ...rest }: LabelBody,
  context: RequestContext,
): Promise<StoreSecretResponse> {
  const { ticket, ...fields } = rest;
  const call = createChangeCall(keyring, { ...fields, ...(ticket === undefined ? {} : { ticket }) });
  const { secret_db_id: id, base_version: version, label } = rest;
  checkLabelHeader(scope, keyring, label, id, version);
  return withLockedAccount(services, scope.accountId, async (tx, account) => {
    const { stored, recordedAnswer } = await readCallState(tx, scope, call);
    if (recordedAnswer !== null) return recordedAnswer;
    await rejectConflicts(tx, scope, id, version);
    const changeBytes = await applyChange(tx, account, stored, call, { secretId: id, version }, services, context);
    const newLabel = { id, version, label, ticket: ticket === undefined ? null : Buffer.from(ticket, "base64url") };
    const rowBytes = await writeLabel(
      tx,
      scope,
      newLabel,
      await incrementChangeCounter(tx, scope.accountId, {
        event: { kind: "label_changed", secretId: id },
        now: context.now,
      }),
      context.now,
    );
    await chargeStorage(
      tx,
      services.vendors.require(scope.vendorId),
      account,
      changeBytes + rowBytes,
      quotaReserveBytes,
    );
    return { secret_db_id: id, version, state_rev: keyring.state_rev };
  });
}

/**
 * Out of the trash; nothing changes when it is not in it.
 *
 * @throws Problem `content_gone` when there is nothing left to take out.
 */
function restoreSecret(services: Services, scope: AccountScope, id: string, now: Date): Promise<StoreSecretResponse> {
  return withLockedAccount(services, scope.accountId, async (tx) => {
    const row = await findSecret(tx, scope, id);
    if (row === null) throw new Problem("not_found");
    if (row.droppedAt !== null) throw new Problem("content_gone");
    if (row.deletedAt !== null)
      await markRestored(
        tx,
        scope,
        id,
        await incrementChangeCounter(tx, scope.accountId, { event: { kind: "secret_restored", secretId: id }, now }),
      );
    const { stateRev } = await readCounters(tx, scope);
    return { secret_db_id: id, version: row.version, state_rev: stateRev };
  });
}
