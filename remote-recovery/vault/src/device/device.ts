import { base64urlBytes, PositiveInt, Digest, Id } from "@relicario/shared/api";
import {
  buildAccountStorageKey,
  autoLockMinutes,
  keepOpenDurations,
  deviceStorage,
  type DeviceAccount,
  type DeviceKind,
  type KeepOpenDuration,
} from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { openDB, type DBSchema, type IDBPDatabase } from "idb";
import { z } from "zod";

import type { StoredMetadataKeys } from "../seal/account-key.ts";
import { markColours, markNotes, type NotedMark } from "../seal/mark.ts";
import { randomBytes, utf8, type Bytes } from "../seal/bytes.ts";
import { getErrorName, mapQuotaError } from "./quota-error.ts";

const stateReferenceFields = { stateRev: PositiveInt, stateSha256: Digest };

/**
 * The newest state that this device has verified, with the public keys of its account. `stateRev`
 * and `keyEpoch` only grow.
 */
export const StateCheckpoint = z.looseObject({
  ...stateReferenceFields,
  keyEpoch: PositiveInt,
  /** Null after consent to an older state, until a session with keys has read that state. */
  root: Digest.nullable(),
  count: z.int().min(0).nullable(),
  /** Public halves of the account's identity, signing and author key (32 bytes, base64url). */
  recipient: z.string(),
  signingKey: base64urlBytes(32, { exact: true }),
  authorKey: base64urlBytes(32, { exact: true }),
});
export interface StateCheckpoint {
  readonly stateRev: number;
  readonly stateSha256: string;
  readonly keyEpoch: number;
  readonly root: string | null;
  readonly count: number | null;
  readonly recipient: string;
  readonly signingKey: string;
  readonly authorKey: string;
}

/** The newest `inner` of the book that this device has verified. Only grows. */
export interface BookInnerReference {
  readonly keyEpoch: number;
  /** `inner_rev`. */
  readonly rev: number;
  /** Of the sealed `inner`, base64url. */
  readonly sha256: string;
}

/** The person's consent to one older state. `abandoned` is the checkpoint that it gives up. */
interface RollbackConsent {
  readonly stateRev: number;
  readonly stateSha256: string;
  readonly abandoned: StateCheckpoint;
}

const bytesSchema = z.custom<Bytes>((value) => value instanceof Uint8Array);
const cryptoKeySchema = z.custom<CryptoKey>((value) => value instanceof CryptoKey);
const WrappedData = z.looseObject({ iv: bytesSchema, data: bytesSchema });
export interface WrappedData {
  readonly iv: Bytes;
  readonly data: Bytes;
}

const MetadataKeys = z.looseObject({
  keyEpoch: PositiveInt,
  label: cryptoKeySchema,
  book: cryptoKeySchema,
  state: cryptoKeySchema,
  shares: cryptoKeySchema,
  requests: cryptoKeySchema,
  sign: cryptoKeySchema,
  recipient: z.string(),
  signingKey: bytesSchema,
  authorKey: bytesSchema,
});

/** Unknown members belong to another release and must be kept. */
const DeviceRecord = z.looseObject({
  v: z.literal(1),
  /** Null until the person has said whose device it is. */
  kind: z.enum(["own", "shared"]).nullable(),
  /** Non-null only on an own device. */
  metadataKeys: MetadataKeys.nullable(),
  /** Stays through a lock, since prompts show it. Non-null only on an own device. */
  mark: z
    .looseObject({ words: z.array(z.string()), colour: z.enum(markColours), note: z.enum(markNotes).nullable() })
    .nullable()
    .default(null),
  /** Whether pages loaded later start locked. */
  locked: z.boolean(),
  /** Milliseconds since 1970. */
  lockedAt: z.int().min(0).nullable(),
  /** Last sign-in before the lock, in seconds by the provider's clock; null when unknown. */
  lockedSignIn: z.int().min(0).nullable().default(null),
  /**
   * Opener id of a passkey that was created or used here, else null. With one, a lock removes the
   * metadata keys.
   */
  passkeyOpener: Id.nullable().default(null),
  /** Last activity in any tab; milliseconds since 1970. */
  lastActivity: z.int().min(0).nullable(),
  autoLockMinutes: z.int().min(autoLockMinutes.minimum).max(autoLockMinutes.maximum),
  /** How long a presented opener is kept open. */
  keepOpen: z.enum(keepOpenDurations).default("five_minutes"),
  remembered: StateCheckpoint.nullable(),
  consent: z.looseObject({ ...stateReferenceFields, abandoned: StateCheckpoint }).nullable(),
  bookInner: z.looseObject({ keyEpoch: PositiveInt, rev: PositiveInt, sha256: Digest }).nullable().default(null),
  /** Highest version seen of each secret that has more than one, by secret id. */
  versions: z.record(z.string(), PositiveInt).default({}),
  /** An account that may not be published yet. `keys` is null if the browser cannot store keys. */
  pending: z.looseObject({ wrapped: WrappedData, keys: MetadataKeys.nullable() }).nullable(),
  /** Sketches of unpublished enrolments. */
  sketches: WrappedData.nullable(),
  /** Links whose shares the account does not list yet. */
  newShares: WrappedData.nullable().default(null),
  /** Highest opened `rev` of each share, by share id. An older update is never shown again. */
  openedShares: z.record(z.string(), PositiveInt).default({}),
});

export interface DeviceRecord {
  readonly v: 1;
  readonly kind: DeviceKind | null;
  readonly metadataKeys: StoredMetadataKeys | null;
  readonly mark: NotedMark | null;
  readonly locked: boolean;
  readonly lockedAt: number | null;
  readonly lockedSignIn: number | null;
  readonly passkeyOpener: string | null;
  readonly lastActivity: number | null;
  readonly autoLockMinutes: number;
  readonly keepOpen: KeepOpenDuration;
  readonly remembered: StateCheckpoint | null;
  readonly consent: RollbackConsent | null;
  readonly bookInner: BookInnerReference | null;
  readonly versions: Readonly<Record<string, number>>;
  readonly pending: { readonly wrapped: WrappedData; readonly keys: StoredMetadataKeys | null } | null;
  readonly sketches: WrappedData | null;
  readonly newShares: WrappedData | null;
  readonly openedShares: Readonly<Record<string, number>>;
}

const initialRecord: DeviceRecord = {
  v: 1,
  kind: null,
  metadataKeys: null,
  mark: null,
  locked: false,
  lockedAt: null,
  lockedSignIn: null,
  passkeyOpener: null,
  lastActivity: null,
  autoLockMinutes: autoLockMinutes.default,
  keepOpen: "five_minutes",
  remembered: null,
  consent: null,
  bookInner: null,
  versions: {},
  pending: null,
  sketches: null,
  newShares: null,
  openedShares: {},
};

export interface Device {
  /** Identifies the account on this device; the same in every tab. */
  readonly storageKey: string;
  /**
   * Rejects with `device_record_unreadable` if this release cannot read the record, which is never
   * overwritten.
   */
  readonly read: () => Promise<DeviceRecord>;
  /**
   * Changes the record in one transaction, which is durable when this resolves and keeps concurrent
   * writes of other tabs. `null` changes nothing. Changes nothing when it rejects with
   * `storage_full` or `device_record_unreadable`.
   */
  readonly update: (change: (current: DeviceRecord) => Partial<DeviceRecord> | null) => Promise<void>;
  /** Like {@link update}, for a change that does not depend on the current record. */
  readonly write: (change: Partial<DeviceRecord>) => Promise<void>;
  /** Renames the record, so that the next write starts an empty one. */
  readonly archive: () => Promise<void>;
  /** Encrypts with the device key. Rejects with `storage_full`. */
  readonly wrap: (purpose: WrapPurpose, plainBytes: Bytes) => Promise<WrappedData>;
  /** Decrypts. Null if the browser has cleared the device key or part of its storage. */
  readonly unwrap: (purpose: WrapPurpose, wrapped: WrappedData) => Promise<Bytes | null>;
  readonly close: () => void;
}

type WrapPurpose = "pending" | "sketches" | "newShares" | "sealing" | "publishing" | "rows";

interface DeviceDatabaseSchema extends DBSchema {
  keys: { key: "device"; value: CryptoKey };
  accounts: { key: string; value: Readonly<Record<string, unknown>> };
}

/**
 * Opens the storage of an account. Without IndexedDB (some private modes), keeps the data in memory
 * until the page closes; the person then needs an opener next time.
 */
export async function openDevice(account: DeviceAccount): Promise<Device> {
  const database = await openDatabase();
  return createDevice(
    database === null ? createMemoryStore() : createDatabaseStore(database),
    buildAccountStorageKey(account),
  );
}

interface RecordStore {
  readonly get: (name: string) => Promise<unknown>;
  /** Runs in one transaction. Null changes nothing. */
  readonly update: (
    name: string,
    transform: (current: unknown) => Readonly<Record<string, unknown>> | null,
  ) => Promise<void>;
  readonly rename: (name: string, newName: string) => Promise<void>;
  /** The non-extractable key of this origin; generated on first use. */
  readonly getDeviceKey: () => Promise<CryptoKey>;
  readonly close: () => void;
}

function createDevice(store: RecordStore, storageKey: string): Device {
  const update: Device["update"] = (change) =>
    store.update(storageKey, (raw) => {
      const current = parseRecord(raw);
      const changes = change(current);
      return changes === null ? null : { ...current, ...changes };
    });

  return {
    storageKey,
    read: async () => parseRecord(await store.get(storageKey)),
    update,
    write: (change) => update(() => change),
    archive: () => store.rename(storageKey, `${storageKey}${archiveSuffix}${new Date().toISOString()}`),
    wrap: async (purpose, plainBytes) => {
      const iv = randomBytes(12);
      const data = await crypto.subtle.encrypt(
        { name: "AES-GCM", iv, additionalData: createAdditionalData(purpose, storageKey) },
        await store.getDeviceKey(),
        plainBytes,
      );
      return { iv, data: new Uint8Array(data) };
    },
    unwrap: async (purpose, { iv, data }) => {
      try {
        return new Uint8Array(
          await crypto.subtle.decrypt(
            { name: "AES-GCM", iv, additionalData: createAdditionalData(purpose, storageKey) },
            await store.getDeviceKey(),
            data,
          ),
        );
      } catch (cause) {
        if (cause instanceof PortalError) throw cause;
        return null; // the caller reports unreadable data
      }
    },
    close: store.close,
  };
}

/** Separates the storage key from the time of archiving in an archived record's name. */
const archiveSuffix = " set aside ";

/**
 * Throws for a record that another release wrote or that is damaged. The record may hold the only
 * checkpoint of a newer state, so it must not be replaced.
 */
function parseRecord(value: unknown): DeviceRecord {
  if (value === undefined) return initialRecord;
  const parsed = DeviceRecord.safeParse(value);
  if (!parsed.success) throw new PortalError("device_record_unreadable", { cause: parsed.error });
  return parsed.data;
}

function createAdditionalData(purpose: WrapPurpose, name: string): Bytes {
  return utf8(`relicario/device/${purpose}\n${name}`);
}

function generateDeviceKey(): Promise<CryptoKey> {
  return crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
}

async function openDatabase(): Promise<IDBPDatabase<DeviceDatabaseSchema> | null> {
  if (typeof indexedDB === "undefined") return null;
  try {
    return await openDB<DeviceDatabaseSchema>(deviceStorage.vault.database, 1, {
      upgrade: (database) => {
        database.createObjectStore("keys");
        database.createObjectStore("accounts");
      },
      blocking: (_current, _blocked, event) => {
        if (event.target instanceof IDBDatabase) event.target.close();
      },
    });
  } catch (cause) {
    const name = getErrorName(cause);
    // a private mode: memory suffices, but the person needs an opener next time
    if (name === "SecurityError" || name === "InvalidStateError" || isDeniedByPerson(cause)) return null;
    // a later release or a damaged profile must not look like an empty device
    throw new PortalError("device_record_unreadable", { cause });
  }
}

/** Chromium's message where a person blocks an origin's data; the error has no specific name. */
function isDeniedByPerson(cause: unknown): boolean {
  return cause instanceof DOMException && cause.message.includes("denied permission");
}

function createDatabaseStore(database: IDBPDatabase<DeviceDatabaseSchema>): RecordStore {
  return {
    get: (name) => database.get("accounts", name),
    update: (name, change) =>
      mapQuotaError(async () => {
        const transaction = database.transaction("accounts", "readwrite", { durability: "strict" });
        const current: unknown = await transaction.store.get(name);
        const updated = change(current);
        await Promise.all([updated === null ? null : transaction.store.put(updated, name), transaction.done]);
      }),
    rename: (name, newName) =>
      mapQuotaError(async () => {
        const transaction = database.transaction("accounts", "readwrite", { durability: "strict" });
        const record = await transaction.store.get(name);
        if (record === undefined) return;
        await Promise.all([transaction.store.put(record, newName), transaction.store.delete(name), transaction.done]);
      }),
    getDeviceKey: () =>
      mapQuotaError(async () => {
        const existing = await database.get("keys", "device");
        if (existing !== undefined) return existing;
        const generated = await generateDeviceKey();
        // must be as durable as the data that it will wrap
        const transaction = database.transaction("keys", "readwrite", { durability: "strict" });
        const concurrent = await transaction.store.get("device"); // another tab may have stored a key meanwhile
        if (concurrent === undefined) await transaction.store.put(generated, "device");
        await transaction.done;
        return concurrent ?? generated;
      }),
    close: () => {
      database.close();
    },
  };
}

function createMemoryStore(): RecordStore {
  const records = new Map<string, unknown>();
  let key: Promise<CryptoKey> | null = null;
  return {
    get: (name) => Promise.resolve(records.get(name)),
    update: async (name, change) => {
      const updated = change(records.get(name));
      if (updated !== null) records.set(name, updated);
    },
    rename: (name, newName) => {
      records.set(newName, records.get(name));
      records.delete(name);
      return Promise.resolve();
    },
    getDeviceKey: () => (key ??= generateDeviceKey()),
    close: () => {
      records.clear();
    },
  };
}

/** Tolerated backward correction of the clock. */
const clockToleranceMilliseconds = 60_000;

/**
 * Time when this device locked, by a lock or by inactivity; null while unlocked. Treats a last
 * activity in the future as a lock now, because it would otherwise delay the lock until then.
 */
export function getLockedSince(
  record: Pick<DeviceRecord, "locked" | "lockedAt" | "lastActivity" | "autoLockMinutes">,
  now: number,
): number | null {
  if (record.locked) return Math.min(record.lockedAt ?? now, now);
  const lastActivity = record.lastActivity ?? 0;
  if (lastActivity > now + clockToleranceMilliseconds) return now;
  const autoLockAt = lastActivity + record.autoLockMinutes * 60_000;
  return now >= autoLockAt ? autoLockAt : null;
}

/**
 * Whether a sign-in came after the lock. Requires two comparisons, because the clocks may differ
 * and the device's may be set back: after the lock by the device's clock, and after the last
 * sign-in before the lock by the provider's clock.
 *
 * @param lockedSince from {@link getLockedSince}
 * @param authTime seconds since 1970, by the provider's clock
 */
export function isSignInAfterLock(
  { lockedSignIn }: Pick<DeviceRecord, "lockedSignIn">,
  lockedSince: number,
  authTime: number,
): boolean {
  return authTime >= Math.floor(lockedSince / 1000) && authTime > (lockedSignIn ?? 0);
}

/**
 * Saves a lock, so that a page loaded later starts locked. Keeps the time of an existing lock. If
 * the device has a passkey, removes the metadata keys, which only an opener can restore.
 *
 * @param signIn last sign-in before the lock, in seconds by the provider's clock
 */
export async function markLocked(account: DeviceAccount, now: number, signIn: number | null): Promise<void> {
  await withDevice(account, async (device) => {
    await device.update(({ metadataKeys, locked, passkeyOpener }) => {
      if (metadataKeys === null) return null;
      if (passkeyOpener !== null) return { locked: true, lockedAt: now, lockedSignIn: signIn, metadataKeys: null };
      return locked ? null : { locked: true, lockedAt: now, lockedSignIn: signIn };
    });
  });
}

/** Removes the metadata keys if a device with a passkey timed out while no page was open. */
export async function finishLock(account: DeviceAccount, now: number): Promise<void> {
  await withDevice(account, async (device) => {
    await device.update((record) => {
      if (record.passkeyOpener === null || record.metadataKeys === null) return null;
      const lockedSince = getLockedSince(record, now);
      return lockedSince === null ? null : { locked: true, lockedAt: lockedSince, metadataKeys: null };
    });
  });
}

/** Removes the saved lock after a fresh sign-in has unlocked the device. */
export async function markUnlocked(account: DeviceAccount, now: number): Promise<void> {
  await withDevice(account, (device) =>
    device.write({ locked: false, lockedAt: null, lockedSignIn: null, lastActivity: now }),
  );
}

export async function readDeviceRecord(account: DeviceAccount): Promise<DeviceRecord> {
  return withDevice(account, (device) => device.read());
}

/**
 * Saves activity, the minutes of the auto-lock, or how long openers are kept. Best effort: on a
 * full disk, a page loaded later locks sooner or uses the previous settings.
 */
export async function saveDeviceSettings(
  account: DeviceAccount,
  change: Partial<Pick<DeviceRecord, "lastActivity" | "autoLockMinutes" | "keepOpen">>,
): Promise<void> {
  try {
    await withDevice(account, (device) => device.write(change));
  } catch (error) {
    if (!isPortalError(error, "storage_full")) throw error;
  }
}

export async function archiveDeviceRecord(account: DeviceAccount): Promise<void> {
  await withDevice(account, (device) => device.archive());
}

async function withDevice<T>(account: DeviceAccount, callback: (device: Device) => Promise<T>): Promise<T> {
  const device = await openDevice(account);
  try {
    return await callback(device);
  } finally {
    device.close();
  }
}
