import { createHash, randomBytes } from "node:crypto";

import type { NewSecret, StoreSecretsResponse, StoreSecretsBody } from "@relicario/shared/api";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { incrementChangeCounter } from "../accounts/next-change.ts";
import { chargeStorage } from "../accounts/storage-used.ts";
import type { AccountScope } from "../auth/actor.ts";
import { Problem } from "../http/problem.ts";
import { applyChange, createChangeCall } from "../keyring/apply-change.ts";
import type { RequestContext } from "../language/language.ts";
import { discardObject, reserveObjects, publishObjects } from "../objects/orphaned-objects.ts";
import type { Services } from "../services/services.ts";
import { rejectTakenIds, insertSecrets, type NewVersion } from "./queries.ts";
import { rejectOverQuota } from "./quota.ts";
import { readCallState, checkLabelHeader } from "./signed-call.ts";

/** Objects that are put at the same time. */
const concurrentPuts = 8;

/**
 * New secrets with one keyring change, all of them or none: [Note: Objects and rows] and [Note:
 * Keyring changes] as for one secret.
 */
export async function storeBatch(
  services: Services,
  scope: AccountScope,
  { keyring, ...rest }: StoreSecretsBody,
  context: RequestContext,
): Promise<StoreSecretsResponse> {
  const { db, objects } = services;
  const { now } = context;
  const vendor = services.vendors.require(scope.vendorId);
  const call = createChangeCall(keyring, rest);
  for (const { secret_db_id: id, label } of rest.secrets) checkLabelHeader(scope, keyring, label, id, 1);
  const contents = rest.secrets.map((secret) => decodeContent(scope, secret));
  const [{ row: firstRow }] = contents as [BatchContent, ...BatchContent[]]; // its schema says so
  const objectKeys = contents.map(({ objectKey }) => objectKey);
  const sizes = contents.map(({ bytes }) => bytes.length);

  const discardAll = async (): Promise<void> => {
    for (const key of objectKeys) await discardObject(db, objects, scope.accountId, key);
  };
  await reserveObjects(db, scope.accountId, objectKeys, now);
  try {
    for (let start = 0; start < contents.length; start += concurrentPuts) {
      await Promise.all(
        contents.slice(start, start + concurrentPuts).map(({ objectKey, bytes }) => objects.put(objectKey, bytes)),
      );
    }
    const outcome = await withLockedAccount(
      services,
      scope.accountId,
      async (tx, account): Promise<{ stored: StoreSecretsResponse; published: boolean }> => {
        const { stored, recordedAnswer } = await readCallState(tx, scope, call);
        if (recordedAnswer !== null) return { stored: { state_rev: recordedAnswer.state_rev }, published: false };
        await rejectTakenIds(
          tx,
          scope,
          contents.map(({ row }) => row.id),
        );
        await rejectOverQuota(tx, vendor, scope, account, sizes, contents.length);
        const changeBytes = await applyChange(
          tx,
          account,
          stored,
          call,
          { secretId: firstRow.id, version: firstRow.version },
          services,
          context,
        );
        await publishObjects(tx, scope.accountId, objectKeys);
        const rowBytes = await insertSecrets(
          tx,
          scope,
          contents.map(({ row }) => row),
          { change: await incrementChangeCounter(tx, scope.accountId), now },
        );
        await chargeStorage(tx, vendor, account, changeBytes + rowBytes + sizes.reduce((sum, size) => sum + size, 0));
        return { stored: { state_rev: keyring.state_rev }, published: true };
      },
    );
    if (!outcome.published) await discardAll();
    return outcome.stored;
  } catch (error) {
    // after any other failure the commit may have taken place, its answer lost
    if (error instanceof Problem) await discardAll();
    throw error;
  }
}

interface BatchContent {
  readonly objectKey: string;
  readonly bytes: Buffer;
  readonly row: NewVersion;
}

function decodeContent(
  { accountId }: AccountScope,
  { secret_db_id: id, label, ticket, content }: NewSecret,
): BatchContent {
  const bytes = Buffer.from(content, "base64url");
  const size = bytes.length;
  const contentSha256 = createHash("sha256").update(bytes).digest();
  const version = 1;
  const objectKey = `${accountId}/${id}/${String(version)}-${randomBytes(12).toString("base64url")}`;
  const objects = [{ objectKey, sha256: contentSha256 }];
  return {
    objectKey,
    bytes,
    row: { id, version, label, ticket: Buffer.from(ticket, "base64url"), objects, partSize: size, contentSha256, size },
  };
}
