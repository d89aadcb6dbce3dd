import { FinishUpload, maxFileBytes, partBytes, type KeyringChange } from "@relicario/shared/api";
import type { WaitingUpload } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { forgetWhenPublished, sentState } from "../steps/forget-when-published.ts";
import { readAccount, type AccountView } from "../steps/read-account.ts";
import { openerChoice } from "../steps/choose-openers.ts";
import { checkChange, checkRequest } from "../steps/check-request.ts";
import { recall } from "../steps/read-keyring.ts";
import { publishNew, type Published } from "./protect.ts";
import { publishUntilItFits, requireOpened, type Attempt } from "../steps/publish.ts";
import type { ReadyContent, SignedRow } from "../steps/sealed-secret.ts";
import { nextChange } from "../steps/signed-change.ts";
import { publishVersion } from "./update.ts";
import { wipe } from "../seal/bytes.ts";
import { paddedLength, sealedLength } from "../seal/content-pieces.ts";
import { newContentSeal } from "../seal/content-stream.ts";
import { newId, timestamp } from "../seal/ids.ts";
import { previousOf, stateDigest } from "../seal/state.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import {
  expiryOf,
  isExpired,
  readPublishing,
  readSealing,
  wrapPublishing,
  wrapSealing,
  type UploadRecord,
  type UploadRecords,
} from "../transfer/records.ts";
import { newSealing, requirePartSize } from "../transfer/sealing.ts";
import { mayPass, untilThrough, type Patience } from "../transfer/until-through.ts";
import type { TransferCalls } from "../transfer/upload-calls.ts";
import type { ProtectRequest, SecretChange } from "../shown-image.ts";

/*
 * The vault's part of an upload: title, openers and place are decided before the first byte is
 * sent, and the secret is published after the last one. In between the transfer's worker seals and
 * sends, without a key of the account.
 */

/** What the acts of an upload need beside the vault. */
export interface UploadParts {
  readonly records: UploadRecords;
  readonly calls: TransferCalls;
  /** Ids of uploads that a tab is sending now. */
  readonly running: () => Promise<ReadonlySet<string>>;
  readonly patience: Patience;
}

/** An upload as it is asked for. The file stays outside: only its size matters here. */
export type UploadOrder =
  | {
      readonly act: "protect";
      readonly request: Omit<ProtectRequest, "content"> & { readonly source?: string };
      readonly size: number;
      readonly handle: FileSystemFileHandle | null;
    }
  | {
      readonly act: "update";
      readonly secretId: string;
      readonly change: Omit<SecretChange, "content"> & {
        readonly content: Omit<NonNullable<SecretChange["content"]>, "content">;
        readonly source?: string;
      };
      readonly size: number;
      readonly handle: FileSystemFileHandle | null;
    };

export type Protection = ProtectRequest["protection"];

const content = { contentKind: z.enum(["text", "seed", "file"]), name: z.string(), mime: z.string() };
/** Openers by id. */
const openers = z.array(z.string());
/** Kept on devices until it is published, so the name of the act stays `flow`. */
const Request = z.discriminatedUnion("flow", [
  z.strictObject({
    flow: z.literal("protect"),
    ...content,
    title: z.string(),
    tags: z.array(z.string()),
    createdAt: z.string(),
    openers,
    source: z.string().optional(),
  }),
  z.strictObject({
    flow: z.literal("update"),
    ...content,
    title: z.string().optional(),
    tags: z.array(z.string()).optional(),
    base: z.strictObject({ version: z.int(), rev: z.int().optional() }),
    /** Absent: those that the secret has. */
    openers: openers.optional(),
    source: z.string().optional(),
  }),
]);
type Request = z.infer<typeof Request>;

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
  vault: VaultContext,
  { records, calls }: UploadParts,
  order: UploadOrder,
  options: ActOptions = {},
): Promise<string> {
  const empty = new Blob();
  if (order.act === "protect") checkRequest({ ...order.request, content: empty });
  else checkChange({ ...order.change, content: { ...order.change.content, content: empty } });
  if (order.size > maxFileBytes) throw new PortalError("payload_too_large", { details: { limit: maxFileBytes } });

  const { contentKind, name, mime } = order.act === "protect" ? order.request : order.change.content;
  const protection = order.act === "protect" ? order.request.protection : order.change.protection;
  const ids = protection === undefined ? undefined : await openersNow(vault, protection, options);
  const now = vault.now();
  const secretId = order.act === "protect" ? newId(now) : order.secretId;
  const baseVersion = order.act === "protect" ? null : order.change.baseVersion;

  const described = { contentKind, name, mime };
  const request: Request =
    order.act === "protect"
      ? {
          flow: "protect",
          ...described,
          title: order.request.title,
          tags: [...order.request.tags],
          createdAt: timestamp(now),
          openers: ids ?? [],
          ...(order.request.source === undefined ? {} : { source: order.request.source }),
        }
      : {
          flow: "update",
          ...described,
          base: {
            version: order.change.baseVersion,
            ...(order.change.baseRev === undefined ? {} : { rev: order.change.baseRev }),
          },
          ...(order.change.title === undefined ? {} : { title: order.change.title }),
          ...(order.change.tags === undefined ? {} : { tags: [...order.change.tags] }),
          ...(ids === undefined ? {} : { openers: ids }),
          ...(order.change.source === undefined ? {} : { source: order.change.source }),
        };
  return start(
    vault,
    { records, calls },
    { request, secretId, baseVersion, size: order.size, handle: order.handle },
    options,
  );
}

/** What an upload is made of, decided. */
interface Start {
  readonly request: Request;
  readonly secretId: string;
  readonly baseVersion: number | null;
  /** Bytes of the plain content. */
  readonly size: number;
  readonly handle: FileSystemFileHandle | null;
}

/** Fresh keys, a place at the service, and the record. */
async function start(
  vault: VaultContext,
  { records, calls }: Pick<UploadParts, "records" | "calls">,
  { request, secretId, baseVersion, size, handle }: Start,
  options: ActOptions,
): Promise<string> {
  const { contentKind, name } = request;
  const now = vault.now();
  const seal = await newContentSeal();
  const sealedSize = sealedLength(seal.prefix.length, paddedLength(contentKind, size));
  const started = await calls.start({ size: sealedSize, partSize: partBytes, secretId, baseVersion }, options.signal);
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
      sealing: await wrapSealing(
        vault.device,
        newSealing(seal, contentKind, size, requirePartSize(started, sealedSize)),
      ),
      publishing: await wrapPublishing(vault.device, {
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
export interface Restarted extends Published {
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
  vault: VaultContext,
  parts: UploadParts,
  uploadId: string,
  file: Pick<Start, "size" | "handle">,
  options: ActOptions = {},
): Promise<Restarted> {
  const { records } = parts;
  if (file.size > maxFileBytes) throw new PortalError("payload_too_large", { details: { limit: maxFileBytes } });
  const record = await records.get(uploadId);
  if (record === null) throw new PortalError("not_found");
  const { secretId, version } = record;
  const { sent, request, base_version: baseVersion } = await readPublishing(vault.device, record);
  if (await forgetWhenPublished(vault, sent, () => records.remove(uploadId), options.signal))
    return { secretId, version, uploadId: null };
  const next = baseVersion === null ? newId(vault.now()) : secretId;
  const begun = await start(
    vault,
    parts,
    { ...file, request: Request.parse(request), secretId: next, baseVersion },
    options,
  );
  await discardUpload(parts, uploadId);
  return { secretId: next, version, uploadId: begun };
}

/**
 * Ids of the openers as they stand now; before the account is published, that of its first image. A
 * picture is judged in either case.
 */
async function openersNow(vault: VaultContext, protection: Protection, options: ActOptions): Promise<string[]> {
  const choice = openerChoice(vault, protection, options);
  const prepare = async (account: AccountView | null): Promise<Attempt<string[]> | { done: string[] }> => {
    const opened = requireOpened(account);
    const { openers, enrolled } = await choice.from(opened);
    const result = openers.map(({ id }) => id);
    if (account === null || opened === null || enrolled === null) return { done: result };
    const change = await nextChange(vault, account, opened, [...account.rows.values()], { enrolled });
    return { change, send: () => vault.service.changeKeyring(change.keyring), result };
  };
  try {
    return await publishUntilItFits(vault, { prepare, published: () => null }, options);
  } finally {
    choice.forget();
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
  vault: VaultContext,
  { records, calls }: UploadParts,
  uploadId: string,
  protection: Protection | null,
  options: ActOptions = {},
): Promise<Published> {
  const record = await records.get(uploadId);
  if (record === null) throw new PortalError("not_found");
  const result: Published = { secretId: record.secretId, version: record.version };
  const [{ content_sha256: sha256, size }, publishing] = await Promise.all([
    readSealing(vault.device, record),
    readPublishing(vault.device, record),
  ]);
  if (sha256 === null) throw new PortalError("upload_incomplete");
  // an account that is here, and shows nothing now
  if (vault.keys === null && (await recall(vault)) !== null) throw new PortalError("vault_locked");
  const seen = async (): Promise<boolean> => {
    const now = await records.get(uploadId);
    if (now === null) return seenByAnother(vault, calls, record, options);
    return forgetWhenPublished(
      vault,
      (await readPublishing(vault.device, now)).sent,
      () => records.remove(uploadId),
      options.signal,
    );
  };

  if (await seen()) return result;
  try {
    const repeated = await repeatLast(vault, calls, uploadId, publishing.last, options);
    if (!repeated) {
      const ready: ReadyContent = {
        sha256,
        size,
        identity: publishing.identity,
        publish: (row) => writeDownAndFinish(vault, { records, calls }, uploadId, sha256, row),
      };
      await publish(vault, record, ready, Request.parse(publishing.request), protection, options);
    }
  } catch (error) {
    if (!isPortalError(error, "conflict", "not_found")) throw error; // published by another tab, or so the service says
    if (await seen()) return result;
    throw isPortalError(error, "conflict") ? new PortalError("publication_not_seen", { cause: error }) : error;
  }
  if (await seen()) return result;
  throw new PortalError("publication_not_seen");
}

/**
 * Another tab forgot it meanwhile: because it was published, or because it was given up. Nothing
 * hangs on the service's word any more.
 */
async function seenByAnother(
  vault: VaultContext,
  calls: TransferCalls,
  { uploadId, secretId, version }: UploadRecord,
  { signal }: ActOptions,
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
async function repeatLast(
  vault: VaultContext,
  calls: TransferCalls,
  uploadId: string,
  last: FinishUpload | null,
  { signal }: ActOptions,
): Promise<boolean> {
  if (last === null) return false;
  return vault.oneWriter(async () => {
    if (!isNext(await readAccount(vault, signal), last.keyring)) return false;
    await calls.finish(uploadId, last);
    return true;
  });
}

function isNext(account: AccountView | null, { state_rev: rev, state }: KeyringChange): boolean {
  if (account === null) return rev === 1;
  const { keyring } = account.view;
  return rev === keyring.state_rev + 1 && previousOf(state) === stateDigest(keyring.state);
}

/** One finishing call: written down, then sent. The same row once more is the same call. */
async function writeDownAndFinish(
  vault: VaultContext,
  { records, calls }: Pick<UploadParts, "records" | "calls">,
  uploadId: string,
  sha256: string,
  { label, ticket, keyring, base_version: base }: SignedRow,
): Promise<void> {
  // Parsed, as it is when it is read back: members in one order, so that the same call is the same
  // bytes.
  const body = FinishUpload.parse({
    label,
    ticket,
    keyring,
    content_sha256: sha256,
    ...(base === undefined ? {} : { base_version: base }),
  });
  const record = await records.get(uploadId);
  if (record === null) throw new PortalError("not_found"); // given up meanwhile: nothing of it is published any more
  const publishing = await readPublishing(vault.device, record);
  const sent = sentState(keyring);
  if (!publishing.sent.some(({ sha256: known }) => known === sent.sha256)) {
    await records.replace({
      ...record,
      publishing: await wrapPublishing(vault.device, { ...publishing, sent: [...publishing.sent, sent], last: body }),
    });
  }
  await calls.finish(uploadId, body);
}

/**
 * With the openers that were decided; where these do not do any more, with the picture that is
 * shown now.
 */
async function publish(
  vault: VaultContext,
  { secretId }: UploadRecord,
  ready: ReadyContent,
  request: Request,
  protection: Protection | null,
  options: ActOptions,
): Promise<void> {
  const decided: Protection | null =
    request.openers === undefined ? null : { kind: "openers", openers: request.openers };
  try {
    await publishWith(vault, secretId, ready, request, decided, options);
  } catch (error) {
    if (protection?.kind !== "picture" || !isPortalError(error, "opener_needed", "show_opener_first")) throw error;
    await publishWith(vault, secretId, ready, request, protection, options);
  }
}

async function publishWith(
  vault: VaultContext,
  secretId: string,
  ready: ReadyContent,
  request: Request,
  protection: Protection | null,
  options: ActOptions,
): Promise<void> {
  if (request.flow === "protect") {
    await publishNew(vault, request, protection ?? { kind: "openers", openers: [] }, ready, options, secretId);
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
  await publishVersion(vault, secretId, { version: base.version, rev: base.rev }, change, ready, options);
}

/** One whose device key is gone can still be seen, and given up. */
function unnamed(error: unknown): null {
  if (isPortalError(error, "not_found")) return null;
  throw error;
}

/**
 * Oldest first. What the service has dropped by now is forgotten here too. Titles and names only
 * while unlocked.
 */
export async function uploads(
  vault: VaultContext,
  { records, calls, running }: UploadParts,
): Promise<readonly WaitingUpload[]> {
  const active = await running();
  const waiting: WaitingUpload[] = [];
  for (const record of await records.all()) {
    const { uploadId } = record;
    if (isExpired(record, vault.now()) && !active.has(uploadId)) {
      await records.remove(uploadId);
      await calls.cancel(uploadId).catch(() => undefined); // the service drops it by itself
      continue;
    }
    const named = vault.keys === null ? null : await readPublishing(vault.device, record).catch(unnamed);
    waiting.push({
      uploadId,
      secretId: record.secretId,
      version: record.version,
      title: named?.title ?? null,
      name: named?.name ?? null,
      size: record.sealedSize,
      sent: record.sent,
      startedAt: timestamp(record.startedAt),
      expiresAt: timestamp(expiryOf(record)),
      state: record.sealed ? "sealed" : active.has(uploadId) ? "running" : "waiting",
      needsFile: !record.sealed && record.handle === null && !active.has(uploadId),
    });
  }
  return waiting;
}

/**
 * Forgets an upload: here first, so that nobody can open its parts any more, then at the service.
 * While that does not answer it is told again, as long as this worker lives; after a day it drops
 * the parts by itself.
 */
export async function discardUpload(
  { records, calls, patience }: Pick<UploadParts, "records" | "calls" | "patience">,
  uploadId: string,
): Promise<void> {
  if ((await records.get(uploadId)) === null) return;
  await records.remove(uploadId);
  try {
    await calls.cancel(uploadId);
  } catch (error) {
    if (!mayPass(error)) throw error;
    // dropped after a day
    untilThrough(() => calls.cancel(uploadId), patience, new AbortController().signal).catch(() => undefined);
  }
}
