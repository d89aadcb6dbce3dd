import { openDB, type DBSchema, type IDBPDatabase } from "idb";

/** What the host stores on a device, apart from the vault's databases. */
interface HostSchema extends DBSchema {
  /** Account ids by account storage key. Never overwritten; deleted when the account is wiped. */
  people: { key: string; value: string };
  /**
   * Keys of link secrets, by id. Each is used once, and kept for at most ten minutes. `at`:
   * milliseconds since 1970.
   */
  linkKeys: { key: string; value: { readonly key: CryptoKey; readonly at: number } };
}

export type HostDatabase = IDBPDatabase<HostSchema>;

/** Opens the host's database for `callback`. Null when this browser or mode has no databases. */
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
    return null; // a private mode or a damaged browser profile refuses databases
  }
}
