import { maxFileBytes, partBytes, toB64u, type UploadState } from "@relicario/shared/api";
import type { WaitingUpload } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import type { AccountView } from "../steps/read-account.ts";
import { openerChoice } from "../steps/choose-openers.ts";
import { checkChange, checkRequest } from "../steps/check-request.ts";
import { publishNew, type Published } from "./protect.ts";
import { publishUntilItFits, requireOpened, type Attempt } from "../steps/publish.ts";
import type { ReadyContent } from "../steps/sealed-secret.ts";
import { nextChange } from "../steps/signed-change.ts";
import { publishVersion } from "./update.ts";
import { wipe } from "../seal/bytes.ts";
import { paddedLength, sealedLength } from "../seal/content-pieces.ts";
import { newContentSeal } from "../seal/content-stream.ts";
import { newId, timestamp } from "../seal/ids.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import { isExpired, readPublishing, readSealing, wrapPublishing, wrapSealing, type UploadRecord, type UploadRecords } from "../transfer/records.ts";
import { mayPass, untilThrough, type Patience } from "../transfer/until-through.ts";
import type { TransferCalls } from "../transfer/upload-calls.ts";
import type { ProtectRequest, SecretChange } from "../shown-image.ts";

/*
 * The vault's part of an upload: title, openers and place are decided before the first byte is sent, and the secret is
 * published after the last one. In between the transfer's worker seals and sends, without a key of the account.
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
  | { readonly act: "protect"; readonly request: Omit<ProtectRequest, "content">; readonly size: number; readonly handle: FileSystemFileHandle | null }
  | {
      readonly act: "update";
      readonly secretId: string;
      readonly change: Omit<SecretChange, "content"> & { readonly content: Omit<NonNullable<SecretChange["content"]>, "content"> };
      readonly size: number;
      readonly handle: FileSystemFileHandle | null;
    };

export type Protection = ProtectRequest["protection"];

const content = { contentKind: z.enum(["text", "seed", "file"]), name: z.string(), mime: z.string() };
/** Openers by id; null where a picture has to be shown again: the very first one, whose account is made with the secret. */
const openers = z.array(z.string()).nullable();
/** Kept on devices until it is published, so the name of the act stays `flow`. */
const Request = z.discriminatedUnion("flow", [
  z.strictObject({ flow: z.literal("protect"), ...content, title: z.string(), tags: z.array(z.string()), createdAt: z.string(), openers }),
  z.strictObject({
    flow: z.literal("update"),
    ...content,
    title: z.string().optional(),
    tags: z.array(z.string()).optional(),
    base: z.strictObject({ version: z.int(), rev: z.int().optional() }),
    /** Absent: those that the secret has. */
    openers: openers.optional(),
  }),
]);

/**
 * Decides everything about an upload but its bytes, and keeps it on the device, wrapped, before the first byte is sent.
 *
 * A new image of an account that is there becomes an opener now, by a keyring change of its own: a picture is not kept, and
 * publishing may come a day later. The very first image comes with the account, when the upload is published.
 *
 * @throws PortalError `validation_error`, `payload_too_large`, `vault_locked`, `quota_exceeded`, `version_conflict`,
 *   `storage_full`, and those of choosing openers.
 */
export async function beginUpload(vault: VaultContext, { records, calls }: UploadParts, order: UploadOrder, options: ActOptions = {}): Promise<string> {
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

  const { identity, payloadKey, prefix } = await newContentSeal();
  const sealedSize = sealedLength(prefix.length, paddedLength(contentKind, order.size));
  const started = await calls.start({ size: sealedSize, partSize: partBytes, secretId, baseVersion }, options.signal);
  const described = { contentKind, name, mime };
  const request: z.infer<typeof Request> =
    order.act === "protect"
      ? { flow: "protect", ...described, title: order.request.title, tags: [...order.request.tags], createdAt: timestamp(now), openers: ids ?? null }
      : {
          flow: "update",
          ...described,
          base: { version: order.change.baseVersion, ...(order.change.baseRev === undefined ? {} : { rev: order.change.baseRev }) },
          ...(order.change.title === undefined ? {} : { title: order.change.title }),
          ...(order.change.tags === undefined ? {} : { tags: [...order.change.tags] }),
          ...(ids === undefined ? {} : { openers: ids }),
        };
  try {
    await vault.device.write({}); // keeps a record of this account, so that the device key is not removed while the upload waits
    await records.add({
      account: vault.device.name,
      uploadId: started.upload_id,
      secretId,
      version: (baseVersion ?? 0) + 1,
      startedAt: now,
      touchedAt: now,
      sealedSize,
      sent: 0,
      sealed: false,
      handle: order.handle,
      sealing: await wrapSealing(vault.device, {
        payload_key: toB64u(payloadKey),
        prefix: toB64u(prefix),
        kind: contentKind,
        size: order.size,
        part_size: started.part_size,
        parts: [],
        digest_state: null,
        content_sha256: null,
      }),
      publishing: await wrapPublishing(vault.device, { identity, base_version: baseVersion, title: request.title ?? name, name, request }),
    });
  } catch (error) {
    await calls.cancel(started.upload_id).catch(() => undefined); // the service drops it after a day
    throw error;
  } finally {
    wipe(payloadKey);
  }
  return started.upload_id;
}

/** Ids of the openers as they stand now; null before the account is made. A picture is judged in either case. */
async function openersNow(vault: VaultContext, protection: Protection, options: ActOptions): Promise<string[] | null> {
  const choice = openerChoice(vault, protection, options);
  const prepare = async (account: AccountView | null): Promise<Attempt<string[] | null> | { done: string[] | null }> => {
    const opened = requireOpened(account);
    const chosen = await choice.from(opened?.book ?? null);
    if (account === null || opened === null) {
      if (chosen.fresh === null) throw new PortalError("opener_needed");
      return { done: null };
    }
    const result = chosen.openers.map(({ id }) => id);
    if (chosen.fresh === null) return { done: result };
    const change = await nextChange(vault, account, opened, [...account.rows.values()], { chosen });
    return { change, send: () => vault.service.changeKeyring(change.keyring), result };
  };
  try {
    return await publishUntilItFits(vault, { prepare, published: () => null }, options);
  } finally {
    choice.forget();
  }
}

/**
 * Publishes an upload all of whose parts are there, and forgets it.
 *
 * @param protection the one that was asked for, where the page still has it; null after a reload.
 * @throws PortalError `not_found`, `upload_incomplete`, `vault_locked`, `opener_needed` (an account is to be made, and its
 *   picture is not there any more: protect anything with it first), `version_conflict`, and those of publishing.
 */
export async function finishUpload(vault: VaultContext, { records, calls }: UploadParts, uploadId: string, protection: Protection | null, options: ActOptions = {}): Promise<Published> {
  const record = await records.get(uploadId);
  if (record === null) throw new PortalError("not_found");
  const [sealing, publishing, state] = await Promise.all([readSealing(vault.device, record), readPublishing(vault.device, record), calls.state(uploadId, options.signal)]);
  const { content_sha256: sha256 } = sealing;
  if (sha256 === null) throw new PortalError("upload_incomplete");
  const published =
    publishedOf(record, state) ??
    (await publish(vault, calls, record, { sha256, identity: publishing.identity, size: sealing.size }, Request.parse(publishing.request), protection, options).catch(async (error: unknown) => {
      if (!isPortalError(error, "conflict")) throw error;
      const byAnother = publishedOf(record, await calls.state(uploadId, options.signal)); // another tab was first
      if (byAnother === null) throw error;
      return byAnother;
    }));
  await records.remove(uploadId);
  return published;
}

function publishedOf({ secretId }: UploadRecord, state: UploadState | null): Published | null {
  const published = state?.published ?? null;
  return published === null ? null : { secretId, version: published.version };
}

async function publish(
  vault: VaultContext,
  calls: TransferCalls,
  { uploadId, secretId }: UploadRecord,
  sealed: Pick<ReadyContent, "sha256" | "identity" | "size">,
  request: z.infer<typeof Request>,
  protection: Protection | null,
  options: ActOptions,
): Promise<Published> {
  const ready: ReadyContent = {
    ...sealed,
    publish: ({ label, ticket, keyring, base_version: base }) =>
      calls.finish(uploadId, { label, ticket, keyring, content_sha256: sealed.sha256, ...(base === undefined ? {} : { base_version: base }) }),
  };
  const decided = request.openers === undefined ? undefined : request.openers === null ? (protection ?? { kind: "openers", openers: [] } as const) : ({ kind: "openers", openers: request.openers } as const);
  if (request.flow === "protect") {
    return publishNew(vault, { ...request, rehearsedAt: null }, decided ?? { kind: "openers", openers: [] }, ready, options, secretId);
  }
  const { title, tags, contentKind, name, mime, base } = request;
  const change = { content: { contentKind, name, mime }, ...(title === undefined ? {} : { title }), ...(tags === undefined ? {} : { tags }), ...(decided === undefined ? {} : { protection: decided }) };
  const { version } = await publishVersion(vault, secretId, { version: base.version, rev: base.rev }, change, ready, options);
  return { secretId, version };
}

/** Oldest first. What the service has dropped by now is forgotten here too. Titles and names only while unlocked. */
export async function uploads(vault: VaultContext, { records, calls, running }: UploadParts): Promise<readonly WaitingUpload[]> {
  const active = await running();
  const waiting: WaitingUpload[] = [];
  for (const record of await records.all()) {
    const { uploadId } = record;
    if (isExpired(record, vault.now()) && !active.has(uploadId)) {
      await records.remove(uploadId);
      await calls.cancel(uploadId).catch(() => undefined); // the service drops it by itself
      continue;
    }
    const named = vault.keys === null ? null : await readPublishing(vault.device, record);
    waiting.push({
      uploadId,
      secretId: record.secretId,
      version: record.version,
      title: named?.title ?? null,
      name: named?.name ?? null,
      size: record.sealedSize,
      sent: record.sent,
      startedAt: timestamp(record.startedAt),
      state: record.sealed ? "sealed" : active.has(uploadId) ? "running" : "waiting",
      needsFile: !record.sealed && record.handle === null && !active.has(uploadId),
    });
  }
  return waiting;
}

/**
 * Forgets an upload: here first, so that nobody can open its parts any more, then at the service. While that does not answer
 * it is told again, as long as this worker lives; after a day it drops the parts by itself.
 */
export async function discardUpload({ records, calls, patience }: Pick<UploadParts, "records" | "calls" | "patience">, uploadId: string): Promise<void> {
  if ((await records.get(uploadId)) === null) return;
  await records.remove(uploadId);
  try {
    await calls.cancel(uploadId);
  } catch (error) {
    if (!mayPass(error)) throw error;
    untilThrough(() => calls.cancel(uploadId), patience, new AbortController().signal).catch(() => undefined); // dropped after a day
  }
}
