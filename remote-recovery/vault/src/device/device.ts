import { Counter, Digest } from "@relicario/shared/api";
import { accountName, autoLockMinutes, keptOnDevice, type DeviceAccount, type DeviceKind } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { openDB, type DBSchema, type IDBPDatabase } from "idb";
import { z } from "zod";

import type { KeptAccountKey } from "../seal/account-key.ts";
import { randomBytes, utf8, type Bytes } from "../seal/bytes.ts";

/** The newest state that this device has seen and checked. */
export const Remembered = z.strictObject({ keyEpoch: Counter, stateRev: Counter, stateSha256: Digest, root: Digest, count: z.int().min(0) });
export type Remembered = z.infer<typeof Remembered>;

const bytes = z.custom<Bytes>((value) => value instanceof Uint8Array);
const key = z.custom<CryptoKey>((value) => value instanceof CryptoKey);
const Wrapped = z.strictObject({ iv: bytes, data: bytes });
type Wrapped = z.infer<typeof Wrapped>;

const DeviceRecord = z.strictObject({
  /** Null until the person has answered. */
  kind: z.enum(["own", "shared"]).nullable(),
  /** On an own device alone. */
  accountKey: z.strictObject({ wrapping: key, iv: bytes, sealed: bytes, keyEpoch: Counter }).nullable(),
  /** A page loaded later starts locked. */
  locked: z.boolean(),
  /** When; milliseconds since 1970. */
  lockedAt: z.int().min(0).nullable().default(null),
  /** The newest sign of the person in any tab; milliseconds since 1970. */
  lastActivity: z.int().min(0).nullable().default(null),
  autoLockMinutes: z.int().min(autoLockMinutes.least).max(autoLockMinutes.most).default(autoLockMinutes.usual),
  remembered: Remembered.nullable(),
  /** An account key that was made and perhaps not yet published. */
  pending: Wrapped.nullable(),
  /** Sketches of enrolments that were not yet published. */
  sketches: Wrapped.nullable(),
});

export interface DeviceRecord {
  readonly kind: DeviceKind | null;
  readonly accountKey: KeptAccountKey | null;
  readonly locked: boolean;
  readonly lockedAt: number | null;
  readonly lastActivity: number | null;
  readonly autoLockMinutes: number;
  readonly remembered: Remembered | null;
  readonly pending: Wrapped | null;
  readonly sketches: Wrapped | null;
}

const emptyRecord: DeviceRecord = {
  kind: null,
  accountKey: null,
  locked: false,
  lockedAt: null,
  lastActivity: null,
  autoLockMinutes: autoLockMinutes.usual,
  remembered: null,
  pending: null,
  sketches: null,
};

/** What this device keeps for one account. */
export interface Device {
  /** Names the account on this device; the same in every tab. */
  readonly name: string;
  readonly read: () => Promise<DeviceRecord>;
  /** `storage_full` when the disk is full: nothing changed then. */
  readonly write: (change: Partial<DeviceRecord>) => Promise<void>;
  /** Encrypts what waits under the device key. `storage_full`. */
  readonly wrap: (purpose: WrapPurpose, plain: Bytes) => Promise<Wrapped>;
  /** Null when it does not open: another device key, a browser that forgot half. */
  readonly unwrap: (purpose: WrapPurpose, wrapped: Wrapped) => Promise<Bytes | null>;
  readonly close: () => void;
}

type WrapPurpose = "pending" | "sketches" | "sealing" | "publishing";

interface Schema extends DBSchema {
  keys: { key: "device"; value: CryptoKey };
  accounts: { key: string; value: DeviceRecord };
}

/**
 * Opens what this device keeps. Where IndexedDB cannot be used (some private modes) it is kept in memory until the page
 * goes: the person needs an opener next time, and nothing is lost.
 */
export async function openDevice(account: DeviceAccount): Promise<Device> {
  const database = await openDatabase();
  return deviceOn(database === null ? memoryStore() : databaseStore(database), accountName(account));
}

interface Store {
  readonly get: (name: string) => Promise<unknown>;
  readonly update: (name: string, change: (before: unknown) => DeviceRecord) => Promise<void>;
  /** The one non-extractable key of this origin, made at first need. */
  readonly deviceKey: () => Promise<CryptoKey>;
  readonly close: () => void;
}

function deviceOn(store: Store, name: string): Device {
  async function read(): Promise<DeviceRecord> {
    return parseRecord(await store.get(name));
  }

  return {
    name,
    read,
    write: (change) => store.update(name, (before) => ({ ...parseRecord(before), ...change })),
    wrap: async (purpose, plain) => {
      const iv = randomBytes(12);
      const data = await crypto.subtle.encrypt({ name: "AES-GCM", iv, additionalData: purposeBytes(purpose, name) }, await store.deviceKey(), plain);
      return { iv, data: new Uint8Array(data) };
    },
    unwrap: async (purpose, { iv, data }) => {
      try {
        return new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv, additionalData: purposeBytes(purpose, name) }, await store.deviceKey(), data));
      } catch (cause) {
        if (cause instanceof PortalError) throw cause;
        return null; // the caller reports that what waited can no longer be read
      }
    },
    close: store.close,
  };
}

/** A record that does not parse was written by another version or damaged: the device starts as a new one. */
function parseRecord(value: unknown): DeviceRecord {
  const parsed = DeviceRecord.safeParse(value);
  return parsed.success ? parsed.data : emptyRecord;
}

function purposeBytes(purpose: WrapPurpose, name: string): Bytes {
  return utf8(`relicario/device/${purpose}\n${name}`);
}

function newDeviceKey(): Promise<CryptoKey> {
  return crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
}

async function openDatabase(): Promise<IDBPDatabase<Schema> | null> {
  if (typeof indexedDB === "undefined") return null;
  try {
    return await openDB<Schema>(keptOnDevice.vault.database, 1, {
      upgrade: (database) => {
        database.createObjectStore("keys");
        database.createObjectStore("accounts");
      },
      blocking: (_current, _blocked, event) => {
        if (event.target instanceof IDBDatabase) event.target.close();
      },
    });
  } catch {
    return null; // refused by a private mode or a broken profile: memory will do, the person needs an opener next time
  }
}

function databaseStore(database: IDBPDatabase<Schema>): Store {
  return {
    get: (name) => database.get("accounts", name),
    update: (name, change) =>
      sayFull(async () => {
        const transaction = database.transaction("accounts", "readwrite");
        const before: unknown = await transaction.store.get(name);
        await Promise.all([transaction.store.put(change(before), name), transaction.done]);
      }),
    deviceKey: () =>
      sayFull(async () => {
        const there = await database.get("keys", "device");
        if (there !== undefined) return there;
        const made = await newDeviceKey();
        const transaction = database.transaction("keys", "readwrite");
        const meanwhile = await transaction.store.get("device"); // another tab may have been first
        if (meanwhile === undefined) await transaction.store.put(made, "device");
        await transaction.done;
        return meanwhile ?? made;
      }),
    close: () => {
      database.close();
    },
  };
}

function memoryStore(): Store {
  const records = new Map<string, DeviceRecord>();
  let key: Promise<CryptoKey> | null = null;
  return {
    get: (name) => Promise.resolve(records.get(name)),
    update: (name, change) => {
      records.set(name, change(records.get(name)));
      return Promise.resolve();
    },
    deviceKey: () => (key ??= newDeviceKey()),
    close: () => {
      records.clear();
    },
  };
}

/** So far apart two readings of one clock may be, once it was set right; milliseconds. */
const clockTolerance = 60_000;

/**
 * Since when this device is locked, by a lock or by too long a time without activity; null when it is not. Activity in the
 * future is none: else it would hold the lock off until then.
 */
export function lockedSince(record: Pick<DeviceRecord, "locked" | "lockedAt" | "lastActivity" | "autoLockMinutes">, now: number): number | null {
  if (record.locked) return Math.min(record.lockedAt ?? now, now);
  const lastActivity = record.lastActivity ?? 0;
  if (lastActivity > now + clockTolerance) return now;
  const end = lastActivity + record.autoLockMinutes * 60_000;
  return now >= end ? end : null;
}

/** Keeps a lock on the device, so that a page loaded later starts locked. A lock that is there already keeps its time. */
export async function markLocked(account: DeviceAccount, now: number): Promise<void> {
  await onDevice(account, async (device) => {
    const { accountKey, locked } = await device.read();
    if (accountKey !== null && !locked) await device.write({ locked: true, lockedAt: now });
  });
}

/** Removes the lock from the device, after unlocking by a fresh sign-in. */
export async function markUnlocked(account: DeviceAccount, now: number): Promise<void> {
  await onDevice(account, (device) => device.write({ locked: false, lockedAt: null, lastActivity: now }));
}

/** What is kept for this account, as it is now. */
export async function readDevice(account: DeviceAccount): Promise<DeviceRecord> {
  return onDevice(account, (device) => device.read());
}

/** Writes beside the key. Best effort: a full disk costs that a page loaded later locks sooner, or by other minutes. */
export async function noteOnDevice(account: DeviceAccount, change: Partial<Pick<DeviceRecord, "lastActivity" | "autoLockMinutes">>): Promise<void> {
  try {
    await onDevice(account, (device) => device.write(change));
  } catch (error) {
    if (!isPortalError(error, "storage_full")) throw error;
  }
}

async function onDevice<T>(account: DeviceAccount, act: (device: Device) => Promise<T>): Promise<T> {
  const device = await openDevice(account);
  try {
    return await act(device);
  } finally {
    device.close();
  }
}

/** Tells a full disk as `storage_full`, whichever store of the browser found it. */
export async function sayFull<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    const full = typeof cause === "object" && cause !== null && "name" in cause && cause.name === "QuotaExceededError";
    throw full ? new PortalError("storage_full", { cause }) : cause;
  }
}
