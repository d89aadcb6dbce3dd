import { base64urlBytes, PositiveInt, Digest, Id } from "@relicario/shared/api";
import {
  buildAccountStorageKey,
  autoLockMinutes,
  deviceStorage,
  type DeviceAccount,
  type DeviceKind,
} from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { openDB, type DBSchema, type IDBPDatabase } from "idb";
import { z } from "zod";

import type { StoredMetadataKeys } from "../seal/account-key.ts";
import { randomBytes, utf8, type Bytes } from "../seal/bytes.ts";
import { getErrorName, mapQuotaError } from "./quota-error.ts";

/** A state as this device knows it: which one, by its digest. */
const stateReferenceFields = { stateRev: PositiveInt, stateSha256: Digest };

/**
 * The newest state that this device has seen and checked, and the account that it belongs to. Both
 * only ever grow.
 */
export const StateCheckpoint = z.looseObject({
  ...stateReferenceFields,
  keyEpoch: PositiveInt,
  /** Null after consent to an older state, until it was read unlocked. */
  root: Digest.nullable(),
  count: z.int().min(0).nullable(),
  /** Public halves of the account's identity and signing key (32 bytes, base64url). */
  recipient: z.string(),
  signingKey: base64urlBytes(32, { exact: true }),
});
export interface StateCheckpoint {
  readonly stateRev: number;
  readonly stateSha256: string;
  readonly keyEpoch: number;
  readonly root: string | null;
  readonly count: number | null;
  readonly recipient: string;
  readonly signingKey: string;
}

/** The person chose to believe one older state; what was given up for it. */
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
});

/** Members that it does not know are those of another release: they are kept. */
const DeviceRecord = z.looseObject({
  v: z.literal(1),
  /** Null until the person has answered. */
  kind: z.enum(["own", "shared"]).nullable(),
  /** On an own device alone. */
  metadataKeys: MetadataKeys.nullable(),
  /** A page loaded later starts locked. */
  locked: z.boolean(),
  /** When; milliseconds since 1970. */
  lockedAt: z.int().min(0).nullable(),
  /** The sign-in of then, in seconds by the provider's clock; null where it is not known. */
  lockedSignIn: z.int().min(0).nullable().default(null),
  /**
   * The opener of a passkey that was made or used here: then a lock takes the metadata keys away.
   * Null without one.
   */
  passkeyOpener: Id.nullable().default(null),
  /** The newest sign of the person in any tab; milliseconds since 1970. */
  lastActivity: z.int().min(0).nullable(),
  autoLockMinutes: z.int().min(autoLockMinutes.minimum).max(autoLockMinutes.maximum),
  remembered: StateCheckpoint.nullable(),
  consent: z.looseObject({ ...stateReferenceFields, abandoned: StateCheckpoint }).nullable(),
  /**
   * Digest of the book's openers when they were last compared with those inside; see
   * `seal/book.ts`.
   */
  checkedOpeners: Digest.nullable(),
  /**
   * An account that was made and perhaps not yet published; its metadata keys stand beside it where
   * they can be kept.
   */
  pending: z.looseObject({ wrapped: WrappedData, keys: MetadataKeys.nullable() }).nullable(),
  /** Sketches of enrolments that were not yet published. */
  sketches: WrappedData.nullable(),
  /** Links whose shares were not yet seen in the account. */
  newShares: WrappedData.nullable().default(null),
  /**
   * The highest `rev` of each share that was opened, by its id: an older update is never shown
   * again.
   */
  openedShares: z.record(z.string(), PositiveInt).default({}),
});

export interface DeviceRecord {
  readonly v: 1;
  readonly kind: DeviceKind | null;
  readonly metadataKeys: StoredMetadataKeys | null;
  readonly locked: boolean;
  readonly lockedAt: number | null;
  readonly lockedSignIn: number | null;
  readonly passkeyOpener: string | null;
  readonly lastActivity: number | null;
  readonly autoLockMinutes: number;
  readonly remembered: StateCheckpoint | null;
  readonly consent: RollbackConsent | null;
  readonly checkedOpeners: string | null;
  readonly pending: { readonly wrapped: WrappedData; readonly keys: StoredMetadataKeys | null } | null;
  readonly sketches: WrappedData | null;
  readonly newShares: WrappedData | null;
  readonly openedShares: Readonly<Record<string, number>>;
}

const initialRecord: DeviceRecord = {
  v: 1,
  kind: null,
  metadataKeys: null,
  locked: false,
  lockedAt: null,
  lockedSignIn: null,
  passkeyOpener: null,
  lastActivity: null,
  autoLockMinutes: autoLockMinutes.default,
  remembered: null,
  consent: null,
  checkedOpeners: null,
  pending: null,
  sketches: null,
  newShares: null,
  openedShares: {},
};

/** What this device keeps for one account. */
export interface Device {
  /** Names the account on this device; the same in every tab. */
  readonly name: string;
  /**
   * `device_record_unreadable` for a record that this release cannot read: nothing is written over
   * it.
   */
  readonly read: () => Promise<DeviceRecord>;
  /**
   * Changes the record, in one transaction that is on the disk when this is answered: nothing that
   * another tab writes in between is lost. Null: there is nothing to change. `storage_full` when
   * the disk is full, `device_record_unreadable`: nothing changed then.
   */
  readonly update: (change: (current: DeviceRecord) => Partial<DeviceRecord> | null) => Promise<void>;
  /** The same for what does not depend on the record as it is. */
  readonly write: (change: Partial<DeviceRecord>) => Promise<void>;
  /** Keeps the record under another name, and begins as on a fresh device. */
  readonly archive: () => Promise<void>;
  /** Encrypts what waits under the device key. `storage_full`. */
  readonly wrap: (purpose: WrapPurpose, plain: Bytes) => Promise<WrappedData>;
  /** Null when it does not open: another device key, a browser that forgot half. */
  readonly unwrap: (purpose: WrapPurpose, wrapped: WrappedData) => Promise<Bytes | null>;
  readonly close: () => void;
}

type WrapPurpose = "pending" | "sketches" | "newShares" | "sealing" | "publishing" | "rows";

interface DeviceDatabaseSchema extends DBSchema {
  keys: { key: "device"; value: CryptoKey };
  accounts: { key: string; value: Readonly<Record<string, unknown>> };
}

/**
 * Opens what this device keeps. Where IndexedDB cannot be used (some private modes) it is kept in
 * memory until the page goes: the person needs an opener next time, and nothing is lost.
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
  /** In one transaction. Null changes nothing. */
  readonly update: (
    name: string,
    transform: (current: unknown) => Readonly<Record<string, unknown>> | null,
  ) => Promise<void>;
  readonly rename: (name: string, newName: string) => Promise<void>;
  /** The one non-extractable key of this origin, made at first need. */
  readonly deviceKey: () => Promise<CryptoKey>;
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
    name: storageKey,
    read: async () => parseRecord(await store.get(storageKey)),
    update,
    write: (change) => update(() => change),
    archive: () => store.rename(storageKey, `${storageKey}${archiveSuffix}${new Date().toISOString()}`),
    wrap: async (purpose, plain) => {
      const iv = randomBytes(12);
      const data = await crypto.subtle.encrypt(
        { name: "AES-GCM", iv, additionalData: createAdditionalData(purpose, storageKey) },
        await store.deviceKey(),
        plain,
      );
      return { iv, data: new Uint8Array(data) };
    },
    unwrap: async (purpose, { iv, data }) => {
      try {
        return new Uint8Array(
          await crypto.subtle.decrypt(
            { name: "AES-GCM", iv, additionalData: createAdditionalData(purpose, storageKey) },
            await store.deviceKey(),
            data,
          ),
        );
      } catch (cause) {
        if (cause instanceof PortalError) throw cause;
        return null; // the caller reports that what waited can no longer be read
      }
    },
    close: store.close,
  };
}

/** Between the name of an account and the time at which its record was set aside. */
const archiveSuffix = " set aside ";

/**
 * A record that does not parse was written by another release or damaged: it is not ours to
 * replace, for it may hold the only memory of a newer state.
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
    // refused by a private mode: memory will do, the person needs an opener next time
    if (name === "SecurityError" || name === "InvalidStateError") return null;
    // a later release's, or a broken profile: what it remembers is not nothing
    throw new PortalError("device_record_unreadable", { cause });
  }
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
    deviceKey: () =>
      mapQuotaError(async () => {
        const existing = await database.get("keys", "device");
        if (existing !== undefined) return existing;
        const generated = await generateDeviceKey();
        // as durable as what it will wrap
        const transaction = database.transaction("keys", "readwrite", { durability: "strict" });
        const concurrent = await transaction.store.get("device"); // another tab may have been first
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
    deviceKey: () => (key ??= generateDeviceKey()),
    close: () => {
      records.clear();
    },
  };
}

/** So far apart two readings of one clock may be, once it was set right; milliseconds. */
const clockTolerance = 60_000;

/**
 * Since when this device is locked, by a lock or by too long a time without activity; null when it
 * is not. Activity in the future is none: else it would hold the lock off until then.
 */
export function getLockedSince(
  record: Pick<DeviceRecord, "locked" | "lockedAt" | "lastActivity" | "autoLockMinutes">,
  now: number,
): number | null {
  if (record.locked) return Math.min(record.lockedAt ?? now, now);
  const lastActivity = record.lastActivity ?? 0;
  if (lastActivity > now + clockTolerance) return now;
  const autoLockAt = lastActivity + record.autoLockMinutes * 60_000;
  return now >= autoLockAt ? autoLockAt : null;
}

/**
 * Whether a sign-in came after the lock: by the device's clock, and by the provider's own beside
 * the sign-in of then, since the two clocks may differ, and the device's may be set back.
 *
 * @param authTime seconds since 1970, by the provider's clock.
 * @param since as {@link getLockedSince} gives it.
 */
export function isSignInAfterLock(
  { lockedSignIn }: Pick<DeviceRecord, "lockedSignIn">,
  since: number,
  authTime: number,
): boolean {
  return authTime >= Math.floor(since / 1000) && authTime > (lockedSignIn ?? 0);
}

/**
 * Keeps a lock on the device, so that a page loaded later starts locked. A lock that is there
 * already keeps its time. Where a passkey opens, the metadata keys go: only an opener brings them
 * back.
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

/**
 * A device that locked itself while no page was open, and that a passkey opens: what a lock takes
 * away goes now.
 */
export async function finishLock(account: DeviceAccount, now: number): Promise<void> {
  await withDevice(account, async (device) => {
    await device.update((record) => {
      const since = record.passkeyOpener === null || record.metadataKeys === null ? null : getLockedSince(record, now);
      return since === null ? null : { locked: true, lockedAt: since, metadataKeys: null };
    });
  });
}

/** Removes the lock from the device, after unlocking by a fresh sign-in. */
export async function markUnlocked(account: DeviceAccount, now: number): Promise<void> {
  await withDevice(account, (device) =>
    device.write({ locked: false, lockedAt: null, lockedSignIn: null, lastActivity: now }),
  );
}

/** What is kept for this account, as it is now. */
export async function readDeviceRecord(account: DeviceAccount): Promise<DeviceRecord> {
  return withDevice(account, (device) => device.read());
}

/**
 * Writes beside the key. Best effort: a full disk costs that a page loaded later locks sooner, or
 * by other minutes.
 */
export async function saveAutoLockState(
  account: DeviceAccount,
  change: Partial<Pick<DeviceRecord, "lastActivity" | "autoLockMinutes">>,
): Promise<void> {
  try {
    await withDevice(account, (device) => device.write(change));
  } catch (error) {
    if (!isPortalError(error, "storage_full")) throw error;
  }
}

/** Keeps a record that cannot be read under another name. */
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
