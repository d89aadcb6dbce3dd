import { FinishUploadBody, maxFileBytes, defaultPartBytes, type KeyringChange } from "@relicario/shared/api";
import type { PendingUpload } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { removeWhenPublished, toSentState } from "../keyring/remove-when-published.ts";
import { readAccount, type AccountView } from "../keyring/read-account.ts";
import { createOpenerChooser } from "../openers/choose-openers.ts";
import { validateSecretChange, validateProtectRequest } from "../secrets/validate-request.ts";
import { publishNewSecret, type PublishedSecret } from "./protect.ts";
import { publishWithRetry, requireOpenedKeyring, type Attempt } from "../keyring/publish.ts";
import type { PublishableContent, SignedRow } from "../secrets/seal-secret.ts";
import { buildNextChange } from "../keyring/build-keyring-change.ts";
import { publishVersion } from "./update.ts";
import { wipe } from "../seal/bytes.ts";
import { paddedLength, sealedLength } from "../seal/content-sizes.ts";
import { createContentSeal } from "../seal/content-stream.ts";
import { newId, formatTimestamp } from "../seal/ids.ts";
import { parseUnverifiedPrevious, computeStateDigest } from "../seal/state.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import {
  getExpiry,
  isExpired,
  readPublishingState,
  readSealingState,
  wrapPublishingState,
  wrapSealingState,
  type UploadRecord,
  type UploadRecords,
} from "../transfer/upload-records.ts";
import { createSealingState, requirePartSize } from "../transfer/sealing-state.ts";
import { isRetryable, retryUntilSuccess, type RetryPolicy } from "../transfer/retry-until-success.ts";
import type { TransferCalls } from "../transfer/upload-calls.ts";
import type { ProtectRequest, SecretChange } from "../rpc/presented-opener.ts";

/*
 * The vault's part of an upload: title, openers and place are decided before the first byte is
 * sent, and the secret is published after the last one. In between the transfer's worker seals and
 * sends, without a key of the account.
 */

/** What the operations of an upload need beside the vault. */
export interface UploadDeps {
  readonly records: UploadRecords;
  readonly calls: TransferCalls;
  /** Ids of uploads that a tab is sending now. */
  readonly getRunningIds: () => Promise<ReadonlySet<string>>;
  readonly retryPolicy: RetryPolicy;
}

/** An upload as it is asked for. The file stays outside: only its size matters here. */
export type UploadPlan =
  | {
      readonly operation: "protect";
      readonly request: Omit<ProtectRequest, "content"> & { readonly source?: string };
      readonly size: number;
      readonly handle: FileSystemFileHandle | null;
    }
  | {
      readonly operation: "update";
      readonly secretId: string;
      readonly change: Omit<SecretChange, "content"> & {
        readonly content: Omit<NonNullable<SecretChange["content"]>, "content">;
        readonly source?: string;
      };
      readonly size: number;
      readonly handle: FileSystemFileHandle | null;
    };

export type Protection = ProtectRequest["protection"];

const contentFields = { contentKind: z.enum(["text", "seed", "file"]), name: z.string(), mime: z.string() };
/** Openers by id. */
const openers = z.array(z.string());
/** Kept on devices until it is published, so the name of the operation stays `flow`. */
const StoredRequest = z.discriminatedUnion("flow", [
  z.strictObject({
    flow: z.literal("protect"),
    ...contentFields,
    title: z.string(),
    tags: z.array(z.string()),
    createdAt: z.string(),
    openers,
    source: z.string().optional(),
  }),
  z.strictObject({
    flow: z.literal("update"),
    ...contentFields,
    title: z.string().optional(),
    tags: z.array(z.string()).optional(),
    base: z.strictObject({ version: z.int(), rev: z.int().optional() }),
    /** Absent: those that the secret has. */
    openers: openers.optional(),
    source: z.string().optional(),
  }),
]);
type StoredRequest = z.infer<typeof StoredRequest>;

/**
 * Decides everything about an upload but its bytes, and keeps it on the device, wrapped, before the
 * first byte is sent.
 *
 * A new image of an account that is there becomes an opener now, by a keyring change of its own: a
 * picture is not kept, and publishing may come a day later. The very first image comes with the
 * account, when the upload is published.
 *
 * @throws PortalError `validation_error`, `payload_too_large`, `vault_locked`, `quota_exceeded`,
 *   `version_conflict`, `storage_full`, and those of choosing openers.
 */
export async function beginUpload(
  vault: VaultSession,
  { records, calls }: UploadDeps,
  plan: UploadPlan,
  options: OperationOptions = {},
): Promise<string> {
  const empty = new Blob();
  if (plan.operation === "protect") validateProtectRequest({ ...plan.request, content: empty });
  else validateSecretChange({ ...plan.change, content: { ...plan.change.content, content: empty } });
  if (plan.size > maxFileBytes) throw new PortalError("payload_too_large", { details: { limit: maxFileBytes } });

  const { contentKind, name, mime } = plan.operation === "protect" ? plan.request : plan.change.content;
  const protection = plan.operation === "protect" ? plan.request.protection : plan.change.protection;
  const openerIds = protection === undefined ? undefined : await resolveOpenerIds(vault, protection, options);
  const now = vault.now();
  const secretId = plan.operation === "protect" ? newId(now) : plan.secretId;
  const baseVersion = plan.operation === "protect" ? null : plan.change.baseVersion;

  const contentMetadata = { contentKind, name, mime };
  const request: StoredRequest =
    plan.operation === "protect"
      ? {
          flow: "protect",
          ...contentMetadata,
          title: plan.request.title,
          tags: [...plan.request.tags],
          createdAt: formatTimestamp(now),
          openers: openerIds ?? [],
          ...(plan.request.source === undefined ? {} : { source: plan.request.source }),
        }
      : {
          flow: "update",
          ...contentMetadata,
          base: {
            version: plan.change.baseVersion,
            ...(plan.change.baseRev === undefined ? {} : { rev: plan.change.baseRev }),
          },
          ...(plan.change.title === undefined ? {} : { title: plan.change.title }),
          ...(plan.change.tags === undefined ? {} : { tags: [...plan.change.tags] }),
          ...(openerIds === undefined ? {} : { openers: openerIds }),
          ...(plan.change.source === undefined ? {} : { source: plan.change.source }),
        };
  return startUpload(
    vault,
    { records, calls },
    { request, secretId, baseVersion, size: plan.size, handle: plan.handle },
    options,
  );
}

/** What an upload is made of, decided. */
interface UploadStart {
  readonly request: StoredRequest;
  readonly secretId: string;
  readonly baseVersion: number | null;
  /** Bytes of the plain content. */
  readonly size: number;
  readonly handle: FileSystemFileHandle | null;
}

/** Fresh keys, a place at the service, and the record. */
async function startUpload(
  vault: VaultSession,
  { records, calls }: Pick<UploadDeps, "records" | "calls">,
  { request, secretId, baseVersion, size, handle }: UploadStart,
  options: OperationOptions,
): Promise<string> {
  const { contentKind, name } = request;
  const now = vault.now();
  const seal = await createContentSeal();
  const sealedSize = sealedLength(seal.prefix.length, paddedLength(contentKind, size));
  const started = await calls.start(
    { size: sealedSize, partSize: defaultPartBytes, secretId, baseVersion },
    options.signal,
  );
  try {
    // keeps a record of this account, so that the device key is not removed while the upload waits
    await vault.device.write({});
    await records.add({
      account: vault.device.name,
      uploadId: started.upload_id,
      secretId,
      version: (baseVersion ?? 0) + 1,
      writes: 0,
      startedAt: now,
      touchedAt: now,
      sealedSize,
      sent: 0,
      sealed: false,
      handle,
      sealing: await wrapSealingState(
        vault.device,
        createSealingState(seal, contentKind, size, requirePartSize(started, sealedSize)),
      ),
      publishing: await wrapPublishingState(vault.device, {
        identity: seal.identity,
        base_version: baseVersion,
        title: request.title ?? name,
        name,
        request,
        sent: [],
        last: null,
      }),
    });
  } catch (error) {
    await calls.cancel(started.upload_id).catch(() => undefined); // the service drops it after a day
    throw error;
  } finally {
    wipe(seal.payloadKey);
  }
  return started.upload_id;
}

/** An upload that was begun once more; `uploadId` is null when it was published already. */
export interface RestartedUpload extends PublishedSecret {
  readonly uploadId: string | null;
}

/**
 * Begins an upload once more, from the first byte and perhaps with another file: with keys of its
 * own, so that nothing is sealed twice under one of them, and where it is a new secret under
 * another id. The one before is forgotten when this one is kept. Where a finishing call of it left,
 * the account is looked at first.
 *
 * @throws PortalError `not_found`, `payload_too_large`, `vault_locked`, `quota_exceeded`,
 *   `version_conflict`, `storage_full`.
 */
export async function restartUpload(
  vault: VaultSession,
  deps: UploadDeps,
  uploadId: string,
  file: Pick<UploadStart, "size" | "handle">,
  options: OperationOptions = {},
): Promise<RestartedUpload> {
  const { records } = deps;
  if (file.size > maxFileBytes) throw new PortalError("payload_too_large", { details: { limit: maxFileBytes } });
  const record = await records.get(uploadId);
  if (record === null) throw new PortalError("not_found");
  const { secretId, version } = record;
  const { sent, request, base_version: baseVersion } = await readPublishingState(vault.device, record);
  if (await removeWhenPublished(vault, sent, () => records.remove(uploadId), options.signal))
    return { secretId, version, uploadId: null };
  const newSecretId = baseVersion === null ? newId(vault.now()) : secretId;
  const newUploadId = await startUpload(
    vault,
    deps,
    { ...file, request: StoredRequest.parse(request), secretId: newSecretId, baseVersion },
    options,
  );
  await discardUpload(deps, uploadId);
  return { secretId: newSecretId, version, uploadId: newUploadId };
}

/**
 * Ids of the openers as they stand now; before the account is published, that of its first image. A
 * picture is judged in either case.
 */
async function resolveOpenerIds(
  vault: VaultSession,
  protection: Protection,
  options: OperationOptions,
): Promise<string[]> {
  const chooser = createOpenerChooser(vault, protection, options);
  const prepare = async (account: AccountView | null): Promise<Attempt<string[]> | { done: string[] }> => {
    const openedKeyring = requireOpenedKeyring(account);
    const { openers, enrolledImage } = await chooser.choose(openedKeyring);
    const result = openers.map(({ id }) => id);
    if (account === null || openedKeyring === null || enrolledImage === null) return { done: result };
    const change = await buildNextChange(vault, account, openedKeyring, [...account.rows.values()], { enrolledImage });
    return { change, send: () => vault.service.changeKeyring(change.keyring), result };
  };
  try {
    return await publishWithRetry(vault, { prepare, findPublished: () => null }, options);
  } finally {
    chooser.dispose();
  }
}

/**
 * Publishes an upload all of whose parts are there, and forgets it once the account shows it
 * ([Note: Only keys]).
 *
 * [Note: Finishing an upload]
 * 1. What left before is looked for in the account: its answer may have been lost, or given to a
 *    tab that is closed.
 * 2. The finishing call that left last goes out again as it is, byte for byte, while its state is
 *    still the next one: what is signed twice could be shown by the service as two histories.
 * 3. Otherwise it is published like every secret. Each finishing call is written down before it
 *    leaves.
 * 4. The record goes when the account shows one of them. Until then it stays, whatever the service
 *    answers.
 *
 * @param protection the one that was asked for, where the page still has it; null after a reload.
 * @throws PortalError `not_found` (nothing is kept of it here), `upload_incomplete`,
 *   `upload_dropped`, `vault_locked`, `opener_needed` (an account is to be made, and its picture is
 *   not there any more: protect anything with it first), `version_conflict`,
 *   `publication_not_seen`, and those of publishing.
 */
export async function finishUpload(
  vault: VaultSession,
  { records, calls }: UploadDeps,
  uploadId: string,
  protection: Protection | null,
  options: OperationOptions = {},
): Promise<PublishedSecret> {
  const record = await records.get(uploadId);
  if (record === null) throw new PortalError("not_found");
  const result: PublishedSecret = { secretId: record.secretId, version: record.version };
  const [{ content_sha256: sha256, size }, publishing] = await Promise.all([
    readSealingState(vault.device, record),
    readPublishingState(vault.device, record),
  ]);
  if (sha256 === null) throw new PortalError("upload_incomplete");
  // an account that is here, and shows nothing now
  if (vault.keys === null && (await vault.loadCheckpoint()) !== null) throw new PortalError("vault_locked");
  const isPublished = async (): Promise<boolean> => {
    const currentRecord = await records.get(uploadId);
    if (currentRecord === null) return isPublishedElsewhere(vault, calls, record, options);
    return removeWhenPublished(
      vault,
      (await readPublishingState(vault.device, currentRecord)).sent,
      () => records.remove(uploadId),
      options.signal,
    );
  };

  if (await isPublished()) return result;
  try {
    const wasResent = await resendLastFinish(vault, calls, uploadId, publishing.last, options);
    if (!wasResent) {
      const publishable: PublishableContent = {
        sha256,
        size,
        identity: publishing.identity,
        publish: (row) => saveAndFinish(vault, { records, calls }, uploadId, sha256, row),
      };
      await publishUpload(vault, record, publishable, StoredRequest.parse(publishing.request), protection, options);
    }
  } catch (error) {
    if (!isPortalError(error, "conflict", "not_found")) throw error; // published by another tab, or so the service says
    if (await isPublished()) return result;
    throw isPortalError(error, "conflict") ? new PortalError("publication_not_seen", { cause: error }) : error;
  }
  if (await isPublished()) return result;
  throw new PortalError("publication_not_seen");
}

/**
 * Another tab forgot it meanwhile: because it was published, or because it was given up. Nothing
 * hangs on the service's word any more.
 */
async function isPublishedElsewhere(
  vault: VaultSession,
  calls: TransferCalls,
  { uploadId, secretId, version }: UploadRecord,
  { signal }: OperationOptions,
): Promise<boolean> {
  const row = (await readAccount(vault, signal))?.rows.get(secretId);
  if (row === undefined || row.version < version) return false;
  try {
    return (await calls.state(uploadId, signal)).published !== null;
  } catch (error) {
    if (!isPortalError(error, "upload_dropped")) throw error;
    return false; // given up
  }
}

/**
 * Whether it went out. Nothing was sent before, or the account went on since: then another one has
 * to be signed.
 */
async function resendLastFinish(
  vault: VaultSession,
  calls: TransferCalls,
  uploadId: string,
  lastFinish: FinishUploadBody | null,
  { signal }: OperationOptions,
): Promise<boolean> {
  if (lastFinish === null) return false;
  return vault.runExclusive(async () => {
    if (!isNextState(await readAccount(vault, signal), lastFinish.keyring)) return false;
    await calls.finish(uploadId, lastFinish);
    return true;
  });
}

function isNextState(account: AccountView | null, { state_rev: rev, state }: KeyringChange): boolean {
  if (account === null) return rev === 1;
  const { keyring } = account.view;
  return rev === keyring.state_rev + 1 && parseUnverifiedPrevious(state) === computeStateDigest(keyring.state);
}

/** One finishing call: written down, then sent. The same row once more is the same call. */
async function saveAndFinish(
  vault: VaultSession,
  { records, calls }: Pick<UploadDeps, "records" | "calls">,
  uploadId: string,
  sha256: string,
  { label, ticket, keyring, base_version: base }: SignedRow,
): Promise<void> {
  // Parsed, as it is when it is read back: members in one order, so that the same call is the same
  // bytes.
  const body = FinishUploadBody.parse({
    label,
    ticket,
    keyring,
    content_sha256: sha256,
    ...(base === undefined ? {} : { base_version: base }),
  });
  const record = await records.get(uploadId);
  if (record === null) throw new PortalError("not_found"); // given up meanwhile: nothing of it is published any more
  const publishing = await readPublishingState(vault.device, record);
  const newState = toSentState(keyring);
  if (!publishing.sent.some(({ sha256: knownDigest }) => knownDigest === newState.sha256)) {
    await records.replace({
      ...record,
      publishing: await wrapPublishingState(vault.device, {
        ...publishing,
        sent: [...publishing.sent, newState],
        last: body,
      }),
    });
  }
  await calls.finish(uploadId, body);
}

/**
 * With the openers that were decided; where these do not do any more, with the picture that is
 * shown now.
 */
async function publishUpload(
  vault: VaultSession,
  { secretId }: UploadRecord,
  publishable: PublishableContent,
  request: StoredRequest,
  protection: Protection | null,
  options: OperationOptions,
): Promise<void> {
  const decidedProtection: Protection | null =
    request.openers === undefined ? null : { kind: "openers", openers: request.openers };
  try {
    await publishWithProtection(vault, secretId, publishable, request, decidedProtection, options);
  } catch (error) {
    if (protection?.kind !== "picture" || !isPortalError(error, "opener_needed", "show_opener_first")) throw error;
    await publishWithProtection(vault, secretId, publishable, request, protection, options);
  }
}

async function publishWithProtection(
  vault: VaultSession,
  secretId: string,
  publishable: PublishableContent,
  request: StoredRequest,
  protection: Protection | null,
  options: OperationOptions,
): Promise<void> {
  if (request.flow === "protect") {
    await publishNewSecret(
      vault,
      request,
      protection ?? { kind: "openers", openers: [] },
      publishable,
      options,
      secretId,
    );
    return;
  }
  const { title, tags, contentKind, name, mime, base, source } = request;
  const change = {
    content: { contentKind, name, mime },
    source,
    ...(title === undefined ? {} : { title }),
    ...(tags === undefined ? {} : { tags }),
    ...(protection === null ? {} : { protection }),
  };
  await publishVersion(vault, secretId, { version: base.version, rev: base.rev }, change, publishable, options);
}

/** One whose device key is gone can still be seen, and given up. */
function nullIfNotFound(error: unknown): null {
  if (isPortalError(error, "not_found")) return null;
  throw error;
}

/**
 * Oldest first. What the service has dropped by now is forgotten here too. Titles and names only
 * while unlocked.
 */
export async function listUploads(
  vault: VaultSession,
  { records, calls, getRunningIds }: UploadDeps,
): Promise<readonly PendingUpload[]> {
  const active = await getRunningIds();
  const pendingUploads: PendingUpload[] = [];
  for (const record of await records.list()) {
    const { uploadId } = record;
    if (isExpired(record, vault.now()) && !active.has(uploadId)) {
      await records.remove(uploadId);
      await calls.cancel(uploadId).catch(() => undefined); // the service drops it by itself
      continue;
    }
    const publishing =
      vault.keys === null ? null : await readPublishingState(vault.device, record).catch(nullIfNotFound);
    pendingUploads.push({
      uploadId,
      secretId: record.secretId,
      version: record.version,
      title: publishing?.title ?? null,
      name: publishing?.name ?? null,
      size: record.sealedSize,
      sent: record.sent,
      startedAt: formatTimestamp(record.startedAt),
      expiresAt: formatTimestamp(getExpiry(record)),
      state: record.sealed ? "sealed" : active.has(uploadId) ? "running" : "waiting",
      needsFile: !record.sealed && record.handle === null && !active.has(uploadId),
    });
  }
  return pendingUploads;
}

/**
 * Forgets an upload: here first, so that nobody can open its parts any more, then at the service.
 * While that does not answer it is told again, as long as this worker lives; after a day it drops
 * the parts by itself.
 */
export async function discardUpload(
  { records, calls, retryPolicy }: Pick<UploadDeps, "records" | "calls" | "retryPolicy">,
  uploadId: string,
): Promise<void> {
  if ((await records.get(uploadId)) === null) return;
  await records.remove(uploadId);
  try {
    await calls.cancel(uploadId);
  } catch (error) {
    if (!isRetryable(error)) throw error;
    // dropped after a day
    retryUntilSuccess(() => calls.cancel(uploadId), retryPolicy, new AbortController().signal).catch(() => undefined);
  }
}
