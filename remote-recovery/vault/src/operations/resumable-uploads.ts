import {
  contentKinds,
  FinishUploadBody,
  maxFileBytes,
  defaultPartBytes,
  type KeyringChange,
} from "@relicario/shared/api";
import type { PendingUpload } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import type { SentState } from "../device/sent-state.ts";
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
import { computePaddedLength, computeSealedLength } from "../seal/content-sizes.ts";
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
 * Title, openers and target of an upload are decided before the first byte is sent; the secret is
 * published after the last one. In between, the transfer worker seals and sends without a key of
 * the account.
 */

export interface UploadDeps {
  readonly records: UploadRecords;
  readonly calls: TransferCalls;
  /** Ids of uploads that a tab is sending. */
  readonly getRunningIds: () => Promise<ReadonlySet<string>>;
  readonly retryPolicy: RetryPolicy;
}

/**
 * The plan of an upload. The file stays in the transfer worker, because the vault needs only its
 * size.
 */
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

const contentFields = { contentKind: z.enum(contentKinds), name: z.string(), mime: z.string() };
const OpenerIds = z.array(z.string());
/**
 * The request as stored, sealed, on the device until publication. `flow` keeps its old name because
 * stored records contain it.
 */
const StoredRequest = z.discriminatedUnion("flow", [
  z.strictObject({
    flow: z.literal("protect"),
    ...contentFields,
    title: z.string(),
    tags: z.array(z.string()),
    createdAt: z.string(),
    openers: OpenerIds,
    source: z.string().optional(),
  }),
  z.strictObject({
    flow: z.literal("update"),
    ...contentFields,
    title: z.string().optional(),
    tags: z.array(z.string()).optional(),
    base: z.strictObject({ version: z.int(), rev: z.int().optional() }),
    /** If absent, the current openers of the secret. */
    openers: OpenerIds.optional(),
    source: z.string().optional(),
  }),
]);
type StoredRequest = z.infer<typeof StoredRequest>;

/**
 * Decides everything about an upload except its bytes, and saves it, wrapped, on the device before
 * the first byte is sent.
 *
 * A new image of an existing account becomes an opener now, by a separate keyring change, because
 * pictures are not saved and publication may come a day later. The first image of a new account is
 * published with the upload.
 *
 * @throws PortalError `validation_error`, `payload_too_large`, `vault_locked`, `quota_exceeded`,
 *   `version_conflict`, `storage_full`, and errors of choosing openers
 */
export async function beginUpload(
  vault: VaultSession,
  { records, calls }: UploadDeps,
  plan: UploadPlan,
  options: OperationOptions = {},
): Promise<string> {
  const emptyContent = new Blob();
  if (plan.operation === "protect") validateProtectRequest({ ...plan.request, content: emptyContent });
  else validateSecretChange({ ...plan.change, content: { ...plan.change.content, content: emptyContent } });
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

interface UploadStart {
  readonly request: StoredRequest;
  readonly secretId: string;
  readonly baseVersion: number | null;
  /** Bytes of the plain content. */
  readonly size: number;
  readonly handle: FileSystemFileHandle | null;
}

async function startUpload(
  vault: VaultSession,
  { records, calls }: Pick<UploadDeps, "records" | "calls">,
  { request, secretId, baseVersion, size, handle }: UploadStart,
  options: OperationOptions,
): Promise<string> {
  const { contentKind, name } = request;
  const now = vault.now();
  const seal = await createContentSeal();
  const sealedSize = computeSealedLength(seal.prefix.length, computePaddedLength(contentKind, size));
  const startedUpload = await calls.start(
    { size: sealedSize, partSize: defaultPartBytes, secretId, baseVersion },
    options.signal,
  );
  try {
    // creates the account's record, which keeps the device key while the upload waits
    await vault.device.write({});
    await records.add({
      account: vault.device.storageKey,
      uploadId: startedUpload.upload_id,
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
        createSealingState(seal, contentKind, size, requirePartSize(startedUpload, sealedSize)),
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
    await calls.cancel(startedUpload.upload_id).catch(() => undefined); // the service drops it after a day
    throw error;
  } finally {
    wipe(seal.payloadKey);
  }
  return startedUpload.upload_id;
}

/** `uploadId` is null if the first upload turned out to be published. */
export interface RestartedUpload extends PublishedSecret {
  readonly uploadId: string | null;
}

/**
 * Restarts an upload from the first byte, possibly with another file. The restarted upload gets new
 * keys, so that nothing is sealed twice under one key; a new secret gets a new id. Discards the
 * former upload after the new one is saved. Starts nothing if a finishing call of the former upload
 * was published.
 *
 * @throws PortalError `not_found`, `payload_too_large`, `vault_locked`, `quota_exceeded`,
 *   `version_conflict`, `storage_full`
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
 * Returns the current openers, or the first image of an unpublished account. Enrols a new picture.
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
    return { change, send: () => vault.service.changeKeyring(change.keyringChange), result };
  };
  try {
    return await publishWithRetry(vault, { prepare, findPublished: () => null }, options);
  } finally {
    chooser.dispose();
  }
}

/**
 * Publishes an upload after all its parts have arrived, and removes its record when the account
 * shows the publication ([Note: Only keys]).
 *
 * [Note: Finishing an upload]
 * 1. The account is searched for earlier finishing calls, whose responses may have been lost or
 *    received by a closed tab.
 * 2. While the state of the last finishing call is still the next one, that call is sent again,
 *    byte for byte. Otherwise the service could present two signed states as two histories.
 * 3. If that is not possible, the upload is published like any secret. Each finishing call is saved
 *    before it is sent.
 * 4. The record is removed when the account shows one of the calls, whatever the service responds.
 *
 * @param protection as requested, if the page still has it; null after a reload
 * @throws PortalError `not_found` (no record on this device), `upload_incomplete`,
 *   `upload_dropped`, `vault_locked`, `opener_needed` (the upload would create the account, but its
 *   picture is gone: protect something with that picture first), `version_conflict`,
 *   `publication_not_seen`, and errors of publishing
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
  const [{ content_sha256: sha256, size }, publishingState] = await Promise.all([
    readSealingState(vault.device, record),
    readPublishingState(vault.device, record),
  ]);
  if (sha256 === null) throw new PortalError("upload_incomplete");
  // the account exists, and is locked
  if (vault.keys === null && (await vault.loadCheckpoint()) !== null) throw new PortalError("vault_locked");
  const removeIfPublished = async (): Promise<boolean> => {
    const currentRecord = await records.get(uploadId);
    if (currentRecord === null) return isPublishedElsewhere(vault, calls, record, options);
    return removeWhenPublished(
      vault,
      (await readPublishingState(vault.device, currentRecord)).sent,
      () => records.remove(uploadId),
      options.signal,
    );
  };

  if (await removeIfPublished()) return result;
  try {
    const wasResent = await resendLastFinish(vault, calls, uploadId, publishingState.last, options);
    if (!wasResent) {
      const publishable: PublishableContent = {
        sha256,
        size,
        identity: publishingState.identity,
        publish: (row) => saveAndFinish(vault, { records, calls }, uploadId, sha256, row),
      };
      await publishUpload(
        vault,
        record,
        publishable,
        StoredRequest.parse(publishingState.request),
        protection,
        options,
      );
    }
  } catch (error) {
    if (!isPortalError(error, "conflict", "not_found")) throw error; // published by another tab, or the service claims so
    if (await removeIfPublished()) return result;
    throw isPortalError(error, "conflict") ? new PortalError("publication_not_seen", { cause: error }) : error;
  }
  if (await removeIfPublished()) return result;
  throw new PortalError("publication_not_seen");
}

/**
 * Another tab has removed the record, because the upload was published or discarded. The service
 * may say which, because no key depends on the answer any more.
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
    return false; // discarded
  }
}

/**
 * Returns false if no call was sent, or if the account has another state since. A new call must
 * then be signed.
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

/** Saves the finishing call, then sends it. The same row gives the same call. */
async function saveAndFinish(
  vault: VaultSession,
  { records, calls }: Pick<UploadDeps, "records" | "calls">,
  uploadId: string,
  sha256: string,
  { label, ticket, ticket_sig, keyring, base_version: baseVersion }: SignedRow,
): Promise<void> {
  // Parsed like on reading, so that a fixed order of members makes a repeated call the same bytes.
  const body = FinishUploadBody.parse({
    label,
    ticket,
    ticket_sig,
    keyring,
    content_sha256: sha256,
    ...(baseVersion === undefined ? {} : { base_version: baseVersion }),
  });
  const record = await records.get(uploadId);
  if (record === null) throw new PortalError("not_found"); // discarded meanwhile: publish nothing
  const publishingState = await readPublishingState(vault.device, record);
  const newState = toSentState(keyring);
  if (!publishingState.sent.some(({ sha256: knownDigest }) => knownDigest === newState.sha256)) {
    await records.replace({
      ...record,
      publishing: await wrapPublishingState(vault.device, {
        ...publishingState,
        sent: [...publishingState.sent, newState],
        last: body,
      }),
    });
  }
  await calls.finish(uploadId, body);
}

/**
 * Publishes with the openers decided at the start. If they no longer suffice, uses the picture
 * presented now.
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
    request.openers === undefined ? null : { kind: "openers", openerIds: request.openers };
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
      protection ?? { kind: "openers", openerIds: [] },
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

/** For an upload whose device key is gone: it is still listed, and can be discarded. */
function nullIfNotFound(error: unknown): null {
  if (isPortalError(error, "not_found")) return null;
  throw error;
}

/**
 * Lists uploads, oldest first; titles and names only while unlocked. Removes the records of expired
 * uploads, and of those that a tab published before it was closed.
 */
export async function listUploads(
  vault: VaultSession,
  { records, calls, getRunningIds }: UploadDeps,
): Promise<readonly PendingUpload[]> {
  const runningIds = await getRunningIds();
  const pendingUploads: PendingUpload[] = [];
  for (const record of await records.list()) {
    const { uploadId } = record;
    if (isExpired(record, vault.now()) && !runningIds.has(uploadId)) {
      await records.remove(uploadId);
      await calls.cancel(uploadId).catch(() => undefined); // the service drops it after a day
      continue;
    }
    const publishingState =
      vault.keys === null ? null : await readPublishingState(vault.device, record).catch(nullIfNotFound);
    if (publishingState !== null && (await wasPublished(vault, records, uploadId, publishingState.sent))) continue;
    pendingUploads.push({
      uploadId,
      secretId: record.secretId,
      version: record.version,
      title: publishingState?.title ?? null,
      name: publishingState?.name ?? null,
      size: record.sealedSize,
      sentBytes: record.sent,
      startedAt: formatTimestamp(record.startedAt),
      expiresAt: formatTimestamp(getExpiry(record)),
      state: record.sealed ? "sealed" : runningIds.has(uploadId) ? "running" : "waiting",
      needsFile: !record.sealed && record.handle === null && !runningIds.has(uploadId),
    });
  }
  return pendingUploads;
}

/** Removes the record of a published upload. False where the account cannot be read now. */
async function wasPublished(
  vault: VaultSession,
  records: UploadRecords,
  uploadId: string,
  sentStates: readonly SentState[],
): Promise<boolean> {
  try {
    return await removeWhenPublished(vault, sentStates, () => records.remove(uploadId));
  } catch (error) {
    if (!isPortalError(error)) throw error;
    return false;
  }
}

/**
 * Deletes the keys on this device first, so that the parts can never be opened, then the parts at
 * the service. Retries while the service is unavailable and this worker lives; the service drops
 * the parts after a day anyway.
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
    // the service drops it after a day
    retryUntilSuccess(() => calls.cancel(uploadId), retryPolicy, new AbortController().signal).catch(() => undefined);
  }
}
