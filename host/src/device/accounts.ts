import { accountName, keptOnDevice, type DeviceAccount, type DeviceKind } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { withHostDatabase } from "./host-database.ts";
import { withDatabase } from "./kept-databases.ts";

/** Who is, or was, signed in. One person may have an account at each vendor. */
export type Person = Pick<DeviceAccount, "issuer" | "subject">;

export function isSamePerson(one: Person, other: Person): boolean {
  return one.issuer === other.issuer && one.subject === other.subject;
}

/** What this device keeps for one account. */
export interface KeptAccount {
  /** As `accountName` gives it. */
  readonly name: string;
  /**
   * Null until the person has answered whose device this is. What they answered in a record that
   * was set aside holds until they answer anew.
   */
  readonly kind: DeviceKind | null;
  /** How many contents wait to be sent or published. */
  readonly uploads: number;
}

const { vault, uploads, rows } = keptOnDevice;

const AccountName = z.tuple([z.string(), z.string(), z.string()]);
const UploadKey = z.tuple([z.string(), z.string()]);
/**
 * The vault's record, as far as the host reads it. One that is of another version, or damaged, may
 * still say this.
 */
const Kind = z.looseObject({ kind: z.enum(["own", "shared"]) });

export async function keptAccounts(person: Person): Promise<readonly KeptAccount[]> {
  const records = await withDatabase(vault.database, async (database) => {
    const names = await database.getAllKeys(vault.accounts);
    return Promise.all(
      names.map(async (name): Promise<[unknown, unknown]> => [name, await database.get(vault.accounts, name)]),
    );
  });
  const listed = await withDatabase(rows.database, (database) => database.getAllKeys(rows.heads));
  const waiting = await withDatabase(uploads.database, (database) => database.getAllKeys(uploads.uploads));
  const pinned = await withHostDatabase((database) => database.getAllKeys("people"));
  const ofUploads = (waiting ?? []).flatMap((key) => UploadKey.safeParse(key).data?.[0] ?? []);
  const kinds = new Map<string, DeviceKind | null>(
    [...ofUploads, ...(pinned ?? []), ...(listed ?? []).flatMap((key) => accountOf(key) ?? [])].map((name) => [
      name,
      null,
    ]),
  );
  for (const [key, record] of [...(records ?? [])].sort(asideFirst)) {
    const name = accountOf(key);
    if (name !== null) kinds.set(name, Kind.safeParse(record).data?.kind ?? kinds.get(name) ?? null);
  }
  return [...kinds]
    .filter(([name]) => isOf(person, name))
    .map(([name, kind]) => ({ name, kind, uploads: ofUploads.filter((each) => each === name).length }));
}

/**
 * What signing out means for the accounts of a person: one that is on a device of their own is
 * locked and its sealed rows go, of any other nothing is left. `isWanted` is asked before each
 * change, so that a sweep that is over in the meantime changes nothing more.
 *
 * @throws PortalError `cancelled` when it is not wanted any more.
 */
export async function leaveAccounts(person: Person, now: number, isWanted: () => boolean): Promise<void> {
  for (const { name, kind } of await keptAccounts(person)) {
    if (kind !== "own") await wipeAccount(name, isWanted);
    else {
      await lockAccount(name, now, isWanted);
      await wipeRows(name, isWanted);
    }
  }
  await dropDeviceKey(isWanted);
}

/**
 * Removes everything of a person's accounts, whatever they answered. As for `leaveAccounts`, it has
 * to be wanted.
 */
export async function forgetAccounts(person: Person, isWanted: () => boolean): Promise<void> {
  for (const { name } of await keptAccounts(person)) await wipeAccount(name, isWanted);
  await dropDeviceKey(isWanted);
}

/**
 * As the vault's own lock: a page loaded later starts locked. One that is there already keeps its
 * time.
 */
async function lockAccount(name: string, now: number, isWanted: () => boolean): Promise<void> {
  await withDatabase(vault.database, async (database) => {
    const transaction = database.transaction(vault.accounts, "readwrite", { durability: "strict" });
    const record = z.looseObject({ locked: z.boolean().optional() }).safeParse(await transaction.store.get(name));
    requireWanted(isWanted);
    if (record.success && record.data.locked !== true)
      await transaction.store.put({ ...record.data, locked: true, lockedAt: now }, name);
    await transaction.done;
  });
}

async function wipeAccount(name: string, isWanted: () => boolean): Promise<void> {
  await withDatabase(uploads.database, (database) => {
    requireWanted(isWanted);
    return database.delete(uploads.uploads, IDBKeyRange.bound([name], [name, []]));
  });
  await wipeRows(name, isWanted);
  await withDatabase(vault.database, (database) => {
    requireWanted(isWanted);
    return database.delete(vault.accounts, IDBKeyRange.bound(name, `${name}\uffff`)); // with what was set aside of it
  });
  await withHostDatabase((database) => {
    requireWanted(isWanted);
    return database.delete("people", name);
  });
}

async function wipeRows(name: string, isWanted: () => boolean): Promise<void> {
  await withDatabase(rows.database, async (database) => {
    const transaction = database.transaction([rows.heads, rows.blocks], "readwrite", { durability: "strict" });
    requireWanted(isWanted);
    await Promise.all([
      transaction.objectStore(rows.heads).delete(name),
      transaction.objectStore(rows.blocks).delete(IDBKeyRange.bound([name], [name, []])),
      transaction.done,
    ]);
  });
}

/** The device key wraps what waits, of every account: with the last of them it goes. */
async function dropDeviceKey(isWanted: () => boolean): Promise<void> {
  const left = await withDatabase(uploads.database, (database) => database.count(uploads.uploads));
  await withDatabase(vault.database, async (database) => {
    const transaction = database.transaction([vault.accounts, vault.keys], "readwrite");
    const accounts = await transaction.objectStore(vault.accounts).count();
    requireWanted(isWanted);
    if (accounts === 0 && (left ?? 0) === 0) await transaction.objectStore(vault.keys).delete(vault.deviceKey);
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
function accountOf(key: unknown): string | null {
  return typeof key === "string" ? key.slice(0, key.lastIndexOf("]") + 1) : null;
}

/** A record comes after those that were set aside: what it says counts. */
function asideFirst([one]: readonly [unknown, unknown], [other]: readonly [unknown, unknown]): number {
  return Number(accountOf(one) === one) - Number(accountOf(other) === other);
}

function isOf({ issuer, subject }: Person, name: string): boolean {
  const vendorId = vendorOf(name);
  return vendorId !== null && name === accountName({ vendorId, issuer, subject });
}

function vendorOf(name: string): string | null {
  try {
    return AccountName.parse(JSON.parse(name))[0];
  } catch {
    return null; // no name of ours: left alone
  }
}
