import { buildAccountStorageKey, type DeviceAccount, type DeviceKind } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { withHostDatabase } from "./host-database.ts";
import type { VaultStorage } from "./vault-storage.ts";

/** A user of the identity provider. A person may have an account at each vendor. */
export type Person = Pick<DeviceAccount, "issuer" | "subject">;

export function isSamePerson(first: Person, second: Person): boolean {
  return first.issuer === second.issuer && first.subject === second.subject;
}

export interface StoredAccount {
  /** From `buildAccountStorageKey`. */
  readonly storageKey: string;
  /**
   * Null until the person has said whose device this is. The answer in an archived record counts
   * until the person answers again.
   */
  readonly kind: DeviceKind | null;
  /** Contents that wait to be uploaded or published. */
  readonly uploadCount: number;
}

const AccountStorageKey = z.tuple([z.string(), z.string(), z.string()]);
const UploadKey = z.tuple([z.string(), z.string()]);

export async function listStoredAccounts(person: Person, storage: VaultStorage): Promise<readonly StoredAccount[]> {
  const { records, rowKeys, uploadKeys } = await storage.read();
  const pinnedStorageKeys = await withHostDatabase((database) => database.getAllKeys("people"));
  const uploadStorageKeys = uploadKeys.flatMap((key) => UploadKey.safeParse(key).data?.[0] ?? []);
  const kindByStorageKey = new Map<string, DeviceKind | null>(
    [
      ...uploadStorageKeys,
      ...(pinnedStorageKeys ?? []),
      ...rowKeys.flatMap((key) => toAccountStorageKey(key) ?? []),
    ].map((name) => [name, null]),
  );
  for (const [key, kind] of [...records].sort(compareArchivedFirst)) {
    const name = toAccountStorageKey(key);
    if (name !== null) kindByStorageKey.set(name, kind ?? kindByStorageKey.get(name) ?? null);
  }
  return [...kindByStorageKey]
    .filter(([name]) => belongsTo(person, name))
    .map(([storageKey, kind]) => ({
      storageKey,
      kind,
      uploadCount: uploadStorageKeys.filter((uploadStorageKey) => uploadStorageKey === storageKey).length,
    }));
}

/**
 * Signs out a person's accounts. On the person's own device it locks each account and wipes its
 * sealed rows; on any other device it wipes everything. Calls `shouldContinue` before each change,
 * so that a cancelled sweep changes nothing more.
 * @throws PortalError `cancelled` when `shouldContinue` returns false
 */
export async function signOutAccounts(
  person: Person,
  storage: VaultStorage,
  now: number,
  shouldContinue: () => boolean,
): Promise<void> {
  for (const { storageKey, kind } of await listStoredAccounts(person, storage)) {
    if (kind !== "own") await wipeAccount(storageKey, storage, shouldContinue);
    else {
      throwIfCancelled(shouldContinue);
      await storage.lockAccount(storageKey, now);
      throwIfCancelled(shouldContinue);
      await storage.wipeRows(storageKey);
    }
  }
  throwIfCancelled(shouldContinue);
  await storage.dropDeviceKey();
}

/**
 * Wipes all of a person's accounts, whatever kind of device this is.
 * @throws PortalError `cancelled` when `shouldContinue` returns false
 */
export async function wipeAccounts(
  person: Person,
  storage: VaultStorage,
  shouldContinue: () => boolean,
): Promise<void> {
  for (const { storageKey } of await listStoredAccounts(person, storage))
    await wipeAccount(storageKey, storage, shouldContinue);
  throwIfCancelled(shouldContinue);
  await storage.dropDeviceKey();
}

async function wipeAccount(storageKey: string, storage: VaultStorage, shouldContinue: () => boolean): Promise<void> {
  for (const wipe of [storage.wipeUploads, storage.wipeRows, storage.wipeRecords]) {
    throwIfCancelled(shouldContinue);
    await wipe(storageKey);
  }
  await withHostDatabase((database) => {
    throwIfCancelled(shouldContinue);
    return database.delete("people", storageKey);
  });
}

function throwIfCancelled(shouldContinue: () => boolean): void {
  if (!shouldContinue()) throw new PortalError("cancelled");
}

/** Account storage key of a record. The key of an archived record has an additional suffix. */
function toAccountStorageKey(key: unknown): string | null {
  return typeof key === "string" ? key.slice(0, key.lastIndexOf("]") + 1) : null;
}

/** Sorts the current record last, so that it overrides archived ones. */
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
    return null; // not one of our keys: left alone
  }
}
