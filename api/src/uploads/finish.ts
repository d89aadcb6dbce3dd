import { createHash } from "node:crypto";

import type { FinishUpload, SecretStored } from "@relicario/shared/api";

import { Problem } from "../http/problem.ts";
import { applyChange, callOf, type Call, type Circumstances } from "../keyring/apply-change.ts";
import { changeAccount } from "../keyring/queries.ts";
import { streamContent, type ContentPlace } from "../secrets/content.ts";
import { nextChange, writeVersion } from "../secrets/queries.ts";
import { countStored, reserveBytes } from "../secrets/quota.ts";
import { begin, checkLabel, refuseConflicts, refuseEarly, versionAfter } from "../secrets/signed-call.ts";
import type { Services } from "../services.ts";
import { digestOf } from "./content-digest.ts";
import type { OwnUploads } from "./policy.ts";
import {
  findUpload,
  keepDigest,
  markPublished,
  partCount,
  partSizeOf,
  readParts,
  type PartRow,
  type UploadRow,
} from "./queries.ts";
import { expiryAfter } from "./start.ts";

/**
 * All parts become the next version, in one transaction with the keyring change. They are read
 * through before it, without holding anything: parts never change, so what was found stays true. A
 * change that does not fit is refused before that.
 *
 * @throws Problem `not_found`, `upload_incomplete` (with `missing`), `digest_mismatch`, `conflict`
 *   when another call has published it, and those of a keyring change.
 */
export async function finishUpload(
  services: Services,
  own: OwnUploads,
  uploadId: string,
  { keyring, ...rest }: FinishUpload,
  when: Circumstances,
): Promise<SecretStored> {
  const call = callOf(keyring, { upload_id: uploadId, ...withoutUndefined(rest) });
  const upload = await findUpload(services.db, own, uploadId, when.now);
  if (upload === null) throw new Problem("not_found");
  const first = answerOf(upload, call);
  if (first !== null) return first;

  const base = upload.baseVersion === null ? undefined : (rest.base_version ?? upload.baseVersion);
  if (upload.baseVersion === null && rest.base_version !== undefined)
    throw new Problem("conflict", { detail: "this upload is a new secret" });
  const version = versionAfter(base);
  checkLabel(own, keyring, rest.label, upload.secretId, version);
  const parts = await readParts(services.db, own, uploadId);
  refuseMissing(upload, parts);
  if (upload.contentSha256 !== null) refuseOther(upload.contentSha256, rest.content_sha256);
  await refuseEarly(services.db, own, call, { secretId: upload.secretId, version }, base);
  const contentSha256 = await services.digests(own.accountId, async () => {
    const present = await findUpload(services.db, own, uploadId, when.now);
    if (present === null) throw new Problem("not_found");
    return (
      present.contentSha256 ??
      contentDigest(services, upload, parts, (found) => keepDigest(services.db, own, uploadId, found))
    );
  });
  refuseOther(contentSha256, rest.content_sha256);

  const vendor = services.vendors.require(own.vendorId);
  return changeAccount(services, own.accountId, async (tx, account) => {
    const { stored, repeated } = await begin(tx, own, call);
    if (repeated !== null) return repeated;
    const present = await findUpload(tx, own, uploadId, when.now);
    if (present === null) throw new Problem("not_found");
    if (present.publishedVersion !== null) throw published();
    await refuseConflicts(tx, own, upload.secretId, base);
    const added = await applyChange(tx, account, stored, call, { secretId: upload.secretId, version }, services, when);
    const next = {
      id: upload.secretId,
      version,
      label: rest.label,
      ticket: Buffer.from(rest.ticket, "base64url"),
      objects: parts,
      partSize: upload.partSize,
      contentSha256,
      size: upload.size,
    };
    const more = await writeVersion(tx, own, next, {
      change: await nextChange(tx, own.accountId, {
        noted: { kind: base === undefined ? "secret_added" : "secret_changed", secretId: upload.secretId },
        now: when.now,
      }),
      now: when.now,
      former: vendor.formerVersions,
    });
    await countStored(tx, vendor, account, added + more, reserveBytes); // the content took its place when it started
    await markPublished(tx, own, uploadId, {
      version,
      stateRev: keyring.state_rev,
      callSha256: wholeCall(call),
      expiresAt: expiryAfter(when.now),
    });
    return { secret_db_id: upload.secretId, version, state_rev: keyring.state_rev };
  });
}

/** The first answer to the call that published this upload; null while nothing has. */
function answerOf(
  { secretId, publishedVersion, publishedStateRev, publishedCallSha256 }: UploadRow,
  call: Call,
): SecretStored | null {
  if (publishedVersion === null || publishedStateRev === null) return null;
  if (publishedCallSha256?.equals(wholeCall(call)) !== true) throw published();
  return { secret_db_id: secretId, version: publishedVersion, state_rev: publishedStateRev };
}

export function refuseOther(found: Buffer, claimed: string): void {
  if (!found.equals(Buffer.from(claimed, "base64url"))) throw new Problem("digest_mismatch");
}

export function refuseMissing(upload: ContentPlace, parts: readonly PartRow[]): void {
  const there = new Set(parts.map(({ part }) => part));
  const missing = Array.from({ length: partCount(upload) }, (_, index) => index + 1).filter((part) => !there.has(part));
  if (missing.length > 0) throw new Problem("upload_incomplete", { members: { missing } });
}

/** SHA-256 over all parts in order, read once and kept: whoever waited for its turn finds it. */
export async function contentDigest(
  services: Services,
  sizes: ContentPlace,
  parts: readonly PartRow[],
  keep: (found: Buffer) => Promise<void>,
): Promise<Buffer> {
  const kept = parts.map(({ part, objectKey, sha256 }) => ({ key: objectKey, size: partSizeOf(sizes, part), sha256 }));
  const found = await digestOf(streamContent(services, sizes, kept, { start: 0, end: sizes.size - 1 }));
  await keep(found);
  return found;
}

function wholeCall({ changeSha256, callSha256 }: Call): Buffer {
  return createHash("sha256").update(changeSha256).update(callSha256).digest();
}

function published(): Problem {
  return new Problem("conflict", { detail: "this upload is published" });
}

function withoutUndefined({
  base_version: base,
  ...always
}: Omit<FinishUpload, "keyring">): Omit<FinishUpload, "keyring"> {
  return base === undefined ? always : { ...always, base_version: base };
}
