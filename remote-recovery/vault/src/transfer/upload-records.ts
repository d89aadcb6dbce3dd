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
 * What this device keeps of an upload until it is published, cancelled or a day old. Two halves,
 * each wrapped by the device key: what sealing needs (the transfer's worker reads it, under the
 * lock too), and what publishing needs, the content identity among it (only the vault's worker
 * reads it).
 */

/** For publishing: written when it begins, and before each finishing call leaves. */
export const PublishingState = z.strictObject({
  identity: z.string(),
  /** Null for a new secret, else the version that the content follows. */
  base_version: z.int().min(1).nullable(),
  /** What operation of the vault publishes it, with what it needs; parsed there. */
  request: z.unknown(),
  title: z.string(),
  name: z.string(),
  /**
   * What the account must lead back to, one of them, before this may be forgotten: the state of
   * every finishing call.
   */
  sent: z.array(SentState),
  /**
   * The last of these calls: while its state is the next one, it goes out again as it is, and
   * nothing else is signed.
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
  /** How often this record was written. */
  writes: z.int().min(0),
  /** Milliseconds since 1970: when it began, and when the part that last arrived left. */
  startedAt: z.number(),
  touchedAt: z.number(),
  /** Bytes of the sealed content, and of those that are known to be there. */
  sealedSize: z.int().min(1),
  sent: z.int().min(0),
  sealed: z.boolean(),
  /** Where the browser gives one; else the file must be chosen again. */
  handle: fileHandleSchema.nullable(),
  sealing: WrappedData,
  publishing: WrappedData,
});
export type UploadRecord = z.infer<typeof UploadRecord>;

/** The uploads of one account on this device. */
export interface UploadRecords {
  readonly list: () => Promise<readonly UploadRecord[]>;
  readonly get: (uploadId: string) => Promise<UploadRecord | null>;
  readonly add: (record: UploadRecord) => Promise<void>;
  /**
   * Writes what follows a record as it was read, and gives it as it is kept now. On the disk when
   * this is answered: after a power cut too. `not_found` when it was removed meanwhile, by another
   * tab perhaps: what was given up never comes back. `conflict` when another tab wrote it
   * meanwhile: what that one sealed under the same key is not known here.
   */
  readonly replace: (record: UploadRecord) => Promise<UploadRecord>;
  readonly remove: (uploadId: string) => Promise<void>;
  readonly close: () => void;
}

interface UploadDatabaseSchema extends DBSchema {
  uploads: { key: [account: string, uploadId: string]; value: UploadRecord };
}

/**
 * A part that left, and whose record a power cut took, could be sealed again with other bytes under
 * the same key and number.
 */
const durableOptions = { durability: "strict" } as const;

/**
 * @throws PortalError `storage_full` where this browser keeps nothing: without a record no upload
 *   begins.
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

/** Name of the Web Lock of whoever sends an upload. */
export function uploadLockName(uploadId: string): string {
  return `relicario-upload ${uploadId}`;
}

/**
 * When the service drops it: so long after its last part. Milliseconds since 1970, by this device's
 * clock.
 */
export function getExpiry(record: UploadRecord): number {
  return record.touchedAt + uploadExpiryHours * 3_600_000;
}

export function isExpired(record: UploadRecord, now: number): boolean {
  return now > getExpiry(record);
}

export async function wrapSealingState(device: Device, sealing: SealingState): Promise<UploadRecord["sealing"]> {
  return wrapJson(device, "sealing", sealing);
}

/** @throws PortalError `not_found` when it was wrapped by a device key that is gone. */
export async function readSealingState(device: Device, record: UploadRecord): Promise<SealingState> {
  return SealingState.parse(await unwrapJson(device, "sealing", record.sealing));
}

export async function wrapPublishingState(
  device: Device,
  publishing: PublishingState,
): Promise<UploadRecord["publishing"]> {
  return wrapJson(device, "publishing", publishing);
}

/** As {@link readSealingState}. Only in the vault's worker. */
export async function readPublishingState(device: Device, record: UploadRecord): Promise<PublishingState> {
  return PublishingState.parse(await unwrapJson(device, "publishing", record.publishing));
}

type RecordHalf = "sealing" | "publishing";

async function wrapJson(device: Device, half: RecordHalf, value: unknown): Promise<{ iv: Bytes; data: Bytes }> {
  const plain = utf8(JSON.stringify(value));
  try {
    return await device.wrap(half, plain);
  } finally {
    wipe(plain);
  }
}

async function unwrapJson(device: Device, half: RecordHalf, wrapped: { iv: Bytes; data: Bytes }): Promise<unknown> {
  const plain = await device.unwrap(half, wrapped);
  if (plain === null) throw new PortalError("not_found");
  try {
    return JSON.parse(new TextDecoder().decode(plain));
  } finally {
    wipe(plain);
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

/** The uploads of one account, as sending takes them. */
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
