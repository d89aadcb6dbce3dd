import { openDB, type IDBPDatabase } from "idb";

/**
 * Does something with a database that the vault made; null when there is none, or no database at
 * all in this browser or mode. None is made here: what its stores are is the vault's to say.
 */
export async function withVaultDatabase<T>(
  name: string,
  callback: (database: IDBPDatabase) => Promise<T>,
): Promise<T | null> {
  const database = await openExisting(name);
  if (database === null) return null;
  try {
    return await callback(database);
  } finally {
    database.close();
  }
}

async function openExisting(name: string): Promise<IDBPDatabase | null> {
  if (typeof indexedDB === "undefined") return null;
  try {
    return await openDB(name, undefined, {
      upgrade: (_database, _before, _after, transaction) => {
        transaction.done.catch(() => undefined); // it ends here: there was no database, and none is left
        transaction.abort();
      },
      blocking: (_current, _blocked, event) => {
        if (event.target instanceof IDBDatabase) event.target.close();
      },
    });
  } catch {
    return null; // none, or refused by a private mode or a broken profile: then the vault kept nothing either
  }
}
