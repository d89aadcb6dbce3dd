import { openDB, type DBSchema, type IDBPDatabase } from "idb";

/** What the host keeps on a device by itself, beside what the vault keeps. */
interface HostSchema extends DBSchema {
  /**
   * The immutable account id by account name: written once, until the account is wiped from this
   * device.
   */
  people: { key: string; value: string };
  /**
   * Keys of secrets that a link carried, by id; each opens one, for ten minutes. `at`: milliseconds
   * since 1970.
   */
  linkKeys: { key: string; value: { readonly key: CryptoKey; readonly at: number } };
}

export type HostDatabase = IDBPDatabase<HostSchema>;

/** Null where this browser or mode keeps no databases. */
export async function withHostDatabase<T>(callback: (database: HostDatabase) => Promise<T>): Promise<T | null> {
  const database = await openHostDatabase();
  if (database === null) return null;
  try {
    return await callback(database);
  } finally {
    database.close();
  }
}

async function openHostDatabase(): Promise<HostDatabase | null> {
  if (typeof indexedDB === "undefined") return null;
  try {
    return await openDB<HostSchema>("relicario-host", 1, {
      upgrade: (database) => {
        database.createObjectStore("people");
        database.createObjectStore("linkKeys");
      },
      blocking: (_current, _blocked, event) => {
        if (event.target instanceof IDBDatabase) event.target.close();
      },
    });
  } catch {
    return null; // refused by a private mode or a broken profile
  }
}
