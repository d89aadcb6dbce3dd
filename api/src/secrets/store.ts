import type { StoreSecretResponse, StoreSecretBody } from "@relicario/shared/api";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { incrementChangeCounter } from "../accounts/change-counter.ts";
import { chargeStorage, quotaReserveBytes } from "../accounts/storage-used.ts";
import type { AccountScope } from "../auth/actor.ts";
import { Problem } from "../http/problem.ts";
import { applyChange, createChangeCall } from "../keyring/apply-change.ts";
import type { RequestContext } from "../language/language.ts";
import { publishObjects, storeObjects } from "../objects/orphaned-objects.ts";
import type { Services } from "../services/services.ts";
import { decodeContent } from "./new-content.ts";
import { findSecret, findVersion, readCounters, writeLabel, markRestored, writeVersion } from "./queries.ts";
import { rejectOverQuota } from "./quota.ts";
import { readCallState, checkLabelHeader, checkOwnerTicket, rejectConflicts, getNextVersion } from "./signed-call.ts";

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
function storeContent(
  services: Services,
  scope: AccountScope,
  { keyring, ...rest }: ContentBody,
  context: RequestContext,
): Promise<StoreSecretResponse> {
  const { now } = context;
  const vendor = services.vendors.require(scope.vendorId);
  const call = createChangeCall(keyring, rest);
  const { secret_db_id: id, base_version: baseVersion } = rest;
  const version = getNextVersion(baseVersion);
  checkLabelHeader(scope, keyring, rest.label, id, version);
  const content = decodeContent(scope, rest, version);
  const { row, objectKey } = content;

  return storeObjects<StoreSecretResponse>(services, scope.accountId, [content], now, () =>
    withLockedAccount(services, scope.accountId, async (tx, account) => {
      const { storedKeyring, recordedResponse } = await readCallState(tx, scope, call);
      if (recordedResponse !== null) return { result: recordedResponse, publishedKeys: [] };
      await rejectConflicts(tx, scope, id, baseVersion);
      await rejectOverQuota(tx, vendor, scope, account, [row.size], baseVersion === undefined ? 1 : 0);
      checkOwnerTicket(storedKeyring, keyring, rest.ticket_sig, row);
      const targetSecret = { secretId: id, version };
      const changeBytes = await applyChange(tx, account, storedKeyring, call, targetSecret, services, context);
      await publishObjects(tx, scope.accountId, [objectKey]);
      const changeNumber = await incrementChangeCounter(tx, scope.accountId, {
        event: { kind: baseVersion === undefined ? "secret_added" : "secret_changed", secretId: id },
        now,
      });
      const { maxFormerVersions } = vendor;
      const rowBytes = await writeVersion(services, tx, scope, row, { changeNumber, now, maxFormerVersions });
      await chargeStorage(tx, vendor, account, changeBytes + rowBytes + row.size);
      const result = { secret_db_id: id, version, state_rev: keyring.state_rev };
      return { result, publishedKeys: [objectKey] };
    }),
  );
}

async function storeLabel(
  services: Services,
  scope: AccountScope,
  { keyring, ...rest }: LabelBody,
  context: RequestContext,
): Promise<StoreSecretResponse> {
  const call = createChangeCall(keyring, rest);
  const { secret_db_id: id, base_version: version, label } = rest;
  const ticket = "ticket" in rest ? Buffer.from(rest.ticket, "base64url") : null;
  checkLabelHeader(scope, keyring, label, id, version);
  return withLockedAccount(services, scope.accountId, async (tx, account) => {
    const { storedKeyring, recordedResponse } = await readCallState(tx, scope, call);
    if (recordedResponse !== null) return recordedResponse;
    await rejectConflicts(tx, scope, id, version);
    if ("ticket" in rest && ticket !== null) {
      const { contentSha256 } = (await findVersion(tx, scope, id, version)).storedVersion;
      checkOwnerTicket(storedKeyring, keyring, rest.ticket_sig, { id, version, ticket, contentSha256 });
    }
    const changeBytes = await applyChange(
      tx,
      account,
      storedKeyring,
      call,
      { secretId: id, version },
      services,
      context,
    );
    const newLabel = { id, version, label, ticket };
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
 * Restores a secret from the trash. Idempotent.
 *
 * @throws Problem `content_gone` when its content was dropped.
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
