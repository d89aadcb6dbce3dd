import { buildAccountStorageKey, deviceStorage, type DeviceAccount, type DeviceKind } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { withHostDatabase } from "./host-database.ts";
import { withVaultDatabase } from "./vault-databases.ts";

/** Who is, or was, signed in. One person may have an account at each vendor. */
export type Person = Pick<DeviceAccount, "issuer" | "subject">;

export function isSamePerson(first: Person, second: Person): boolean {
  return first.issuer === second.issuer && first.subject === second.subject;
}

/** What this device keeps for one account. */
export interface StoredAccount {
  /** As `buildAccountStorageKey` gives it. */
  readonly name: string;
  /**
   * Null until the person has answered whose device this is. What they answered in a record that
   * was set aside holds until they answer anew.
   */
  readonly kind: DeviceKind | null;
  /** How many contents wait to be sent or published. */
  readonly uploads: number;
}

const { vault, uploads, rows } = deviceStorage;

const AccountStorageKey = z.tuple([z.string(), z.string(), z.string()]);
const UploadKey = z.tuple([z.string(), z.string()]);
/**
 * The vault's record, as far as the host reads it. One that is of another version, or damaged, may
 * still say this.
 */
const DeviceKindRecord = z.looseObject({ kind: z.enum(["own", "shared"]) });

export async function listStoredAccounts(person: Person): Promise<readonly StoredAccount[]> {
  const records = await withVaultDatabase(vault.database, async (database) => {
    const names = await database.getAllKeys(vault.accounts);
    return Promise.all(
      names.map(async (name): Promise<[unknown, unknown]> => [name, await database.get(vault.accounts, name)]),
    );
  });
  const rowKeys = await withVaultDatabase(rows.database, (database) => database.getAllKeys(rows.heads));
  const uploadKeys = await withVaultDatabase(uploads.database, (database) => database.getAllKeys(uploads.uploads));
  const pinnedNames = await withHostDatabase((database) => database.getAllKeys("people"));
  const uploadNames = (uploadKeys ?? []).flatMap((key) => UploadKey.safeParse(key).data?.[0] ?? []);
  const kinds = new Map<string, DeviceKind | null>(
    [...uploadNames, ...(pinnedNames ?? []), ...(rowKeys ?? []).flatMap((key) => toAccountStorageKey(key) ?? [])].map(
      (name) => [name, null],
    ),
  );
  for (const [key, record] of [...(records ?? [])].sort(compareArchivedFirst)) {
    const name = toAccountStorageKey(key);
    if (name !== null) kinds.set(name, DeviceKindRecord.safeParse(record).data?.kind ?? kinds.get(name) ?? null);
  }
  return [...kinds]
    .filter(([name]) => belongsTo(person, name))
    .map(([name, kind]) => ({ name, kind, uploads: uploadNames.filter((uploadName) => uploadName === name).length }));
}

/**
 * What signing out means for the accounts of a person: one that is on a device of their own is
 * locked and its sealed rows go, of any other nothing is left. `isWanted` is asked before each
 * change, so that a sweep that is over in the meantime changes nothing more.
 *
 * @throws PortalError `cancelled` when it is not wanted any more.
 */
export async function signOutAccounts(person: Person, now: number, isWanted: () => boolean): Promise<void> {
  for (const { name, kind } of await listStoredAccounts(person)) {
    if (kind !== "own") await wipeAccount(name, isWanted);
    else {
      await lockAccount(name, now, isWanted);
      await wipeRows(name, isWanted);
    }
  }
  await dropDeviceKey(isWanted);
}

/**
 * Removes everything of a person's accounts, whatever they answered. As for `signOutAccounts`, it
 * has to be wanted.
 */
export async function wipeAccounts(person: Person, isWanted: () => boolean): Promise<void> {
  for (const { name } of await listStoredAccounts(person)) await wipeAccount(name, isWanted);
  await dropDeviceKey(isWanted);
}

/**
 * As the vault's own lock: a page loaded later starts locked. One that is there already keeps its
 * time.
 */
async function lockAccount(storageKey: string, now: number, isWanted: () => boolean): Promise<void> {
  await withVaultDatabase(vault.database, async (database) => {
    const transaction = database.transaction(vault.accounts, "readwrite", { durability: "strict" });
    const record = z.looseObject({ locked: z.boolean().optional() }).safeParse(await transaction.store.get(storageKey));
    requireWanted(isWanted);
    if (record.success && record.data.locked !== true)
      await transaction.store.put({ ...record.data, locked: true, lockedAt: now }, storageKey);
    await transaction.done;
  });
}

async function wipeAccount(storageKey: string, isWanted: () => boolean): Promise<void> {
  await withVaultDatabase(uploads.database, (database) => {
    requireWanted(isWanted);
    return database.delete(uploads.uploads, IDBKeyRange.bound([storageKey], [storageKey, []]));
  });
  await wipeRows(storageKey, isWanted);
  await withVaultDatabase(vault.database, (database) => {
    requireWanted(isWanted);
    // with what was set aside of it
    return database.delete(vault.accounts, IDBKeyRange.bound(storageKey, `${storageKey}\uffff`));
  });
  await withHostDatabase((database) => {
    requireWanted(isWanted);
    return database.delete("people", storageKey);
  });
}

async function wipeRows(storageKey: string, isWanted: () => boolean): Promise<void> {
  await withVaultDatabase(rows.database, async (database) => {
    const transaction = database.transaction([rows.heads, rows.blocks], "readwrite", { durability: "strict" });
    requireWanted(isWanted);
    await Promise.all([
      transaction.objectStore(rows.heads).delete(storageKey),
      transaction.objectStore(rows.blocks).delete(IDBKeyRange.bound([storageKey], [storageKey, []])),
      transaction.done,
    ]);
  });
}

/** The device key wraps what waits, of every account: with the last of them it goes. */
async function dropDeviceKey(isWanted: () => boolean): Promise<void> {
  const remainingUploads = await withVaultDatabase(uploads.database, (database) => database.count(uploads.uploads));
  await withVaultDatabase(vault.database, async (database) => {
    const transaction = database.transaction([vault.accounts, vault.keys], "readwrite");
    const accounts = await transaction.objectStore(vault.accounts).count();
    requireWanted(isWanted);
    if (accounts === 0 && (remainingUploads ?? 0) === 0)
      await transaction.objectStore(vault.keys).delete(vault.deviceKey);
    await transaction.done;
  });
}

function requireWanted(isWanted: () => boolean): void {
  if (!isWanted()) throw new PortalError("cancelled");
}

/**
 * The account that a record is of, also one that was set aside: that is kept under the account's
 * name, a mark and the time.
 */
function toAccountStorageKey(key: unknown): string | null {
  return typeof key === "string" ? key.slice(0, key.lastIndexOf("]") + 1) : null;
}

/** A record comes after those that were set aside: what it says counts. */
function compareArchivedFirst([a]: readonly [unknown, unknown], [b]: readonly [unknown, unknown]): number {
  return Number(toAccountStorageKey(a) === a) - Number(toAccountStorageKey(b) === b);
}

function belongsTo({ issuer, subject }: Person, storageKey: string): boolean {
  const vendorId = parseVendorId(storageKey);
  return vendorId !== null && storageKey === buildAccountStorageKey({ vendorId, issuer, subject });
}

function parseVendorId(storageKey: string): string | null {
  try {
    return AccountStorageKey.parse(JSON.parse(storageKey))[0];
  } catch {
    return null; // no name of ours: left alone
  }
}
