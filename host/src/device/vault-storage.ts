import { deviceStorage } from "@relicario/shared/contract";
import { z } from "zod";

import { removeOpenedFiles } from "./opened-files.ts";
import { withVaultDatabase } from "./vault-databases.ts";

const { vault, uploads, rows } = deviceStorage;

/** What the vault stores about accounts, as the host reads it. */
export const StoredVaultData = z.strictObject({
  /** Keys of the vault's records, and the answer in each: whose device this is. */
  records: z.array(z.tuple([z.unknown(), z.enum(["own", "shared"]).nullable()])),
  /** Keys of cached rows. */
  rowKeys: z.array(z.unknown()),
  /** Keys of uploads. */
  uploadKeys: z.array(z.unknown()),
});
export type StoredVaultData = z.infer<typeof StoredVaultData>;

/**
 * The vault's storage, in the vault's origin. The host lists and wipes it, also in a session that
 * never loaded the vault.
 */
export interface VaultStorage {
  readonly read: () => Promise<StoredVaultData>;
  /**
   * Locks like the vault does: pages that load later start locked. A locked record keeps its
   * `lockedAt`.
   *
   * @param now milliseconds since 1970
   */
  readonly lockAccount: (storageKey: string, now: number) => Promise<void>;
  readonly wipeRows: (storageKey: string) => Promise<void>;
  readonly wipeUploads: (storageKey: string) => Promise<void>;
  /** Wipes the account's records, archived ones too. */
  readonly wipeRecords: (storageKey: string) => Promise<void>;
  /** Deletes the device key with the last account: it wraps the waiting uploads of all accounts. */
  readonly dropDeviceKey: () => Promise<void>;
  readonly removeOpenedFiles: () => Promise<void>;
}

/**
 * The part of the vault's record that the host reads. A record of another version, or a damaged
 * one, may still have it.
 */
const DeviceKindRecord = z.looseObject({ kind: z.enum(["own", "shared"]) });

/** The storage of the origin that this runs in. */
export const originVaultStorage: VaultStorage = Object.freeze<VaultStorage>({
  read: async () => {
    const records = await withVaultDatabase(vault.database, async (database) => {
      const keys = await database.getAllKeys(vault.accounts);
      return Promise.all(
        keys.map(async (key): Promise<[unknown, "own" | "shared" | null]> => {
          const record: unknown = await database.get(vault.accounts, key);
          return [key, DeviceKindRecord.safeParse(record).data?.kind ?? null];
        }),
      );
    });
    const rowKeys = await withVaultDatabase(rows.database, (database) => database.getAllKeys(rows.heads));
    const uploadKeys = await withVaultDatabase(uploads.database, (database) => database.getAllKeys(uploads.uploads));
    return { records: records ?? [], rowKeys: rowKeys ?? [], uploadKeys: uploadKeys ?? [] };
  },
  lockAccount: async (storageKey, now) => {
    await withVaultDatabase(vault.database, async (database) => {
      const transaction = database.transaction(vault.accounts, "readwrite", { durability: "strict" });
      const record = z
        .looseObject({ locked: z.boolean().optional() })
        .safeParse(await transaction.store.get(storageKey));
      if (record.success && record.data.locked !== true)
        await transaction.store.put({ ...record.data, locked: true, lockedAt: now }, storageKey);
      await transaction.done;
    });
  },
  wipeRows: async (storageKey) => {
    await withVaultDatabase(rows.database, async (database) => {
      const transaction = database.transaction([rows.heads, rows.blocks], "readwrite", { durability: "strict" });
      await Promise.all([
        transaction.objectStore(rows.heads).delete(storageKey),
        transaction.objectStore(rows.blocks).delete(IDBKeyRange.bound([storageKey], [storageKey, []])),
        transaction.done,
      ]);
    });
  },
  wipeUploads: async (storageKey) => {
    await withVaultDatabase(uploads.database, (database) =>
      database.delete(uploads.uploads, IDBKeyRange.bound([storageKey], [storageKey, []])),
    );
  },
  wipeRecords: async (storageKey) => {
    await withVaultDatabase(vault.database, (database) =>
      database.delete(vault.accounts, IDBKeyRange.bound(storageKey, `${storageKey}\uffff`)),
    );
  },
  dropDeviceKey: async () => {
    const remainingUploads = await withVaultDatabase(uploads.database, (database) => database.count(uploads.uploads));
    await withVaultDatabase(vault.database, async (database) => {
      const transaction = database.transaction([vault.accounts, vault.keys], "readwrite");
      const accounts = await transaction.objectStore(vault.accounts).count();
      if (accounts === 0 && (remainingUploads ?? 0) === 0)
        await transaction.objectStore(vault.keys).delete(vault.deviceKey);
      await transaction.done;
    });
  },
  removeOpenedFiles,
});
