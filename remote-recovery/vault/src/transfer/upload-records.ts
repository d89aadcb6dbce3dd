import { FinishUploadBody, Id, uploadExpiryHours } from "@relicario/shared/api";
import { deviceStorage } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { openDB, type DBSchema, type IDBPDatabase } from "idb";
import { z } from "zod";

import type { Device } from "../device/device.ts";
import { mapQuotaError } from "../device/quota-error.ts";
import { SentState } from "../device/sent-state.ts";
import { utf8, wipe, type Bytes } from "../seal/bytes.ts";
import type { SendingRecords } from "./send-content.ts";
import { SealingState } from "./sealing-state.ts";

/*
 * Stores an upload on this device until it is published, cancelled or a day old. The device key
 * wraps two parts: one for sealing, which the transfer worker can read while locked, and one for
 * publishing, with the content identity, which only the vault's worker reads.
 */

/** Saved when publishing begins and before each `finish` call. */
export const PublishingState = z.strictObject({
  identity: z.string(),
  /** Version before this content; null for a new secret. */
  base_version: z.int().min(1).nullable(),
  /** Operation that publishes the upload, with its arguments; parsed there. */
  request: z.unknown(),
  title: z.string(),
  name: z.string(),
  /** States of all `finish` calls; the record stays until the account descends from one of them. */
  sent: z.array(SentState),
  /**
   * The last `finish` call, which is repeated unchanged, without signing another, while its state
   * is next.
   */
  last: FinishUploadBody.nullable(),
});
export type PublishingState = z.infer<typeof PublishingState>;

const bytesSchema = z.custom<Bytes>((value) => value instanceof Uint8Array);
const WrappedData = z.strictObject({ iv: bytesSchema, data: bytesSchema });
const fileHandleSchema = z.custom<FileSystemFileHandle>(
  (value) => typeof value === "object" && value !== null && "getFile" in value,
);

export const UploadRecord = z.strictObject({
  account: z.string(),
  uploadId: Id,
  secretId: Id,
  version: z.int().min(1),
  /** Number of writes, to detect concurrent ones. */
  writes: z.int().min(0),
  /** When the upload began, and when its last arrived part was sent; milliseconds since 1970. */
  startedAt: z.number(),
  touchedAt: z.number(),
  /** Length of the sealed content, and the number of bytes that the service is known to have. */
  sealedSize: z.int().min(1),
  sent: z.int().min(0),
  sealed: z.boolean(),
  /** Null if the browser has none; the file must then be chosen again. */
  handle: fileHandleSchema.nullable(),
  sealing: WrappedData,
  publishing: WrappedData,
});
export type UploadRecord = z.infer<typeof UploadRecord>;

export interface UploadRecords {
  readonly list: () => Promise<readonly UploadRecord[]>;
  readonly get: (uploadId: string) => Promise<UploadRecord | null>;
  readonly add: (record: UploadRecord) => Promise<void>;
  /**
   * Replaces a record as it was read; resolves with the new one, durable even after a power cut.
   * Throws `not_found` if it was removed, because a discarded upload is never restored. Throws
   * `conflict` if another tab has written it, because this tab cannot know what the other sealed
   * under the same key.
   */
  readonly replace: (record: UploadRecord) => Promise<UploadRecord>;
  readonly remove: (uploadId: string) => Promise<void>;
  readonly close: () => void;
}

interface UploadDatabaseSchema extends DBSchema {
  uploads: { key: [account: string, uploadId: string]; value: UploadRecord };
}

/**
 * Without durability, a power cut could lose the record of a sent part, and other bytes could be
 * sealed under the same key and number.
 */
const durableOptions = { durability: "strict" } as const;

/**
 * @throws PortalError `storage_full` without IndexedDB, because no upload begins without a record
 */
export async function openUploadRecords(account: string): Promise<UploadRecords> {
  const database = await openDatabase();
  const accountRange = IDBKeyRange.bound([account, ""], [account, "\uffff"]);
  return {
    list: async () => {
      const values: unknown[] = await database.getAll("uploads", accountRange);
      return values
        .flatMap((value) => UploadRecord.safeParse(value).data ?? [])
        .sort((left, right) => left.startedAt - right.startedAt);
    },
    get: async (uploadId) => UploadRecord.safeParse(await database.get("uploads", [account, uploadId])).data ?? null,
    add: (record) =>
      mapQuotaError(async () => {
        const transaction = database.transaction("uploads", "readwrite", durableOptions);
        await Promise.all([transaction.store.put(record, [account, record.uploadId]), transaction.done]);
      }),
    replace: (record) =>
      mapQuotaError(async () => {
        const transaction = database.transaction("uploads", "readwrite", durableOptions);
        const key: [string, string] = [account, record.uploadId];
        const existing = UploadRecord.safeParse(await transaction.store.get(key)).data;
        const next = existing?.writes === record.writes ? { ...record, writes: record.writes + 1 } : null;
        await Promise.all([next === null ? null : transaction.store.put(next, key), transaction.done]);
        if (next === null) throw new PortalError(existing === undefined ? "not_found" : "conflict");
        return next;
      }),
    remove: (uploadId) => database.delete("uploads", [account, uploadId]),
    close: () => {
      database.close();
    },
  };
}

/** Returns the name of the Web Lock that the sending tab holds. */
export function buildUploadLockName(uploadId: string): string {
  return `relicario-upload ${uploadId}`;
}

/** When the service drops the upload: milliseconds since 1970, by this device's clock. */
export function getExpiry(record: UploadRecord): number {
  return record.touchedAt + uploadExpiryHours * 3_600_000;
}

export function isExpired(record: UploadRecord, now: number): boolean {
  return now > getExpiry(record);
}

export async function wrapSealingState(device: Device, sealing: SealingState): Promise<UploadRecord["sealing"]> {
  return wrapJson(device, "sealing", sealing);
}

/** @throws PortalError `not_found` if the device key is gone */
export async function readSealingState(device: Device, record: UploadRecord): Promise<SealingState> {
  return SealingState.parse(await unwrapJson(device, "sealing", record.sealing));
}

export async function wrapPublishingState(
  device: Device,
  publishing: PublishingState,
): Promise<UploadRecord["publishing"]> {
  return wrapJson(device, "publishing", publishing);
}

/** Like {@link readSealingState}; only for the vault's worker. */
export async function readPublishingState(device: Device, record: UploadRecord): Promise<PublishingState> {
  return PublishingState.parse(await unwrapJson(device, "publishing", record.publishing));
}

type RecordHalf = "sealing" | "publishing";

async function wrapJson(device: Device, half: RecordHalf, value: unknown): Promise<{ iv: Bytes; data: Bytes }> {
  const plainBytes = utf8(JSON.stringify(value));
  try {
    return await device.wrap(half, plainBytes);
  } finally {
    wipe(plainBytes);
  }
}

async function unwrapJson(device: Device, half: RecordHalf, wrapped: { iv: Bytes; data: Bytes }): Promise<unknown> {
  const plainBytes = await device.unwrap(half, wrapped);
  if (plainBytes === null) throw new PortalError("not_found");
  try {
    return JSON.parse(new TextDecoder().decode(plainBytes));
  } finally {
    wipe(plainBytes);
  }
}

async function openDatabase(): Promise<IDBPDatabase<UploadDatabaseSchema>> {
  try {
    return await openDB<UploadDatabaseSchema>(deviceStorage.uploads.database, 1, {
      upgrade: (database) => {
        database.createObjectStore("uploads");
      },
      blocking: (_current, _blocked, event) => {
        if (event.target instanceof IDBDatabase) event.target.close();
      },
    });
  } catch (cause) {
    throw new PortalError("storage_full", { cause });
  }
}

export function createSendingRecords(
  device: Device,
  records: Pick<UploadRecords, "get" | "replace">,
): SendingRecords<UploadRecord> {
  return {
    get: records.get,
    readSealingState: (record) => readSealingState(device, record),
    replace: async (record, sealing) =>
      records.replace({ ...record, sealing: await wrapSealingState(device, sealing) }),
  };
}
