import { createHash } from "node:crypto";

import type { FinishUploadBody, StoreSecretResponse } from "@relicario/shared/api";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { incrementChangeCounter } from "../accounts/change-counter.ts";
import { chargeStorage, quotaReserveBytes } from "../accounts/storage-used.ts";
import type { AccountScope } from "../auth/actor.ts";
import { Problem } from "../http/problem.ts";
import { applyChange, createChangeCall, type ChangeCall } from "../keyring/apply-change.ts";
import type { RequestContext } from "../language/language.ts";
import { streamContent, type ContentLayout } from "../secrets/content.ts";
import { writeVersion } from "../secrets/queries.ts";
import {
  readCallState,
  checkLabelHeader,
  checkOwnerTicket,
  rejectConflicts,
  precheckCall,
  getNextVersion,
} from "../secrets/signed-call.ts";
import type { Services } from "../services/services.ts";
import { digestInWorker } from "./content-digest.ts";
import {
  findUpload,
  saveContentDigest,
  markPublished,
  countParts,
  getPartSize,
  readParts,
  type PartRow,
  type UploadRow,
} from "./queries.ts";
import { getUploadExpiry } from "./start.ts";

/**
 * Publishes all parts as the next version, in one transaction with the keyring change. Reads them
 * first, without a lock: parts never change. An invalid change is refused before that.
 *
 * @throws Problem `not_found`, `upload_incomplete` (with `missing`), `digest_mismatch`, `conflict`
 *   when another call has published it, and those of a keyring change.
 */
export async function finishUpload(
  services: Services,
  scope: AccountScope,
  uploadId: string,
  { keyring, ...rest }: FinishUploadBody,
  context: RequestContext,
): Promise<StoreSecretResponse> {
  const call = createChangeCall(keyring, { upload_id: uploadId, ...omitUndefined(rest) });
  const upload = await findUpload(services.db, scope, uploadId, context.now);
  if (upload === null) throw new Problem("not_found");
  const publishedResponse = findPublishedResponse(upload, call);
  if (publishedResponse !== null) return publishedResponse;

  const baseVersion = upload.baseVersion === null ? undefined : (rest.base_version ?? upload.baseVersion);
  if (upload.baseVersion === null && rest.base_version !== undefined)
    throw new Problem("conflict", { detail: "this upload is a new secret" });
  const version = getNextVersion(baseVersion);
  checkLabelHeader(scope, keyring, rest.label, upload.secretId, version);
  const parts = await readParts(services.db, scope, uploadId);
  rejectMissingParts(upload, parts);
  if (upload.contentSha256 !== null) rejectDigestMismatch(upload.contentSha256, rest.content_sha256);
  await precheckCall(services.db, scope, call, { secretId: upload.secretId, version }, baseVersion);
  const contentSha256 = await services.digestLock(scope.accountId, async () => {
    const currentUpload = await findUpload(services.db, scope, uploadId, context.now);
    if (currentUpload === null) throw new Problem("not_found");
    return (
      currentUpload.contentSha256 ??
      computeContentDigest(services, upload, parts, (digest) => saveContentDigest(services.db, scope, uploadId, digest))
    );
  });
  rejectDigestMismatch(contentSha256, rest.content_sha256);

  const vendor = services.vendors.require(scope.vendorId);
  return withLockedAccount(services, scope.accountId, async (tx, account) => {
    const { storedKeyring, recordedResponse } = await readCallState(tx, scope, call);
    if (recordedResponse !== null) return recordedResponse;
    const currentUpload = await findUpload(tx, scope, uploadId, context.now);
    if (currentUpload === null) throw new Problem("not_found");
    if (currentUpload.publishedVersion !== null) throw createAlreadyPublishedProblem();
    await rejectConflicts(tx, scope, upload.secretId, baseVersion);
    const newVersion = {
      id: upload.secretId,
      version,
      label: rest.label,
      ticket: Buffer.from(rest.ticket, "base64url"),
      objects: parts,
      partSize: upload.partSize,
      contentSha256,
      size: upload.size,
    };
    checkOwnerTicket(storedKeyring, keyring, rest.ticket_sig, newVersion);
    const changeBytes = await applyChange(
      tx,
      account,
      storedKeyring,
      call,
      { secretId: upload.secretId, version },
      services,
      context,
    );
    const rowBytes = await writeVersion(services, tx, scope, newVersion, {
      changeNumber: await incrementChangeCounter(tx, scope.accountId, {
        event: { kind: baseVersion === undefined ? "secret_added" : "secret_changed", secretId: upload.secretId },
        now: context.now,
      }),
      now: context.now,
      maxFormerVersions: vendor.maxFormerVersions,
    });
    // the content was charged at the start
    await chargeStorage(tx, vendor, account, changeBytes + rowBytes, quotaReserveBytes);
    await markPublished(tx, scope, uploadId, {
      version,
      stateRev: keyring.state_rev,
      callSha256: digestCall(call),
      expiresAt: getUploadExpiry(context.now),
    });
    return { secret_db_id: upload.secretId, version, state_rev: keyring.state_rev };
  });
}

/** The first response to the publishing call; null before. */
function findPublishedResponse(
  { secretId, publishedVersion, publishedStateRev, publishedCallSha256 }: UploadRow,
  call: ChangeCall,
): StoreSecretResponse | null {
  if (publishedVersion === null || publishedStateRev === null) return null;
  if (publishedCallSha256?.equals(digestCall(call)) !== true) throw createAlreadyPublishedProblem();
  return { secret_db_id: secretId, version: publishedVersion, state_rev: publishedStateRev };
}

export function rejectDigestMismatch(actual: Buffer, claimed: string): void {
  if (!actual.equals(Buffer.from(claimed, "base64url"))) throw new Problem("digest_mismatch");
}

export function rejectMissingParts(upload: ContentLayout, parts: readonly PartRow[]): void {
  const receivedParts = new Set(parts.map(({ part }) => part));
  const missing = Array.from({ length: countParts(upload) }, (_, index) => index + 1).filter(
    (part) => !receivedParts.has(part),
  );
  if (missing.length > 0) throw new Problem("upload_incomplete", { members: { missing } });
}

/** Computes and stores SHA-256 over all parts. Concurrent calls wait and find it stored. */
export async function computeContentDigest(
  services: Services,
  layout: ContentLayout,
  parts: readonly PartRow[],
  saveDigest: (digest: Buffer) => Promise<void>,
): Promise<Buffer> {
  const objects = parts.map(({ part, objectKey, sha256 }) => ({
    key: objectKey,
    size: getPartSize(layout, part),
    sha256,
  }));
  const digest = await digestInWorker(streamContent(services, layout, objects, { start: 0, end: layout.size - 1 }));
  await saveDigest(digest);
  return digest;
}

function digestCall({ changeSha256, callSha256 }: ChangeCall): Buffer {
  return createHash("sha256").update(changeSha256).update(callSha256).digest();
}

function createAlreadyPublishedProblem(): Problem {
  return new Problem("conflict", { detail: "this upload is published" });
}

function omitUndefined({
  base_version: baseVersion,
  ...fields
}: Omit<FinishUploadBody, "keyring">): Omit<FinishUploadBody, "keyring"> {
  return baseVersion === undefined ? fields : { ...fields, base_version: baseVersion };
}
