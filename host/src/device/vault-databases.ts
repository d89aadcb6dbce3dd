import { openDB, type IDBPDatabase } from "idb";

/**
 * Opens a database of the vault for `callback`. Null when the database does not exist, or this
 * browser or mode has no databases. Never creates a database, because only the vault knows its
 * stores.
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
        transaction.done.catch(() => undefined); // the database did not exist: the abort keeps it from being created
        transaction.abort();
      },
      blocking: (_current, _blocked, event) => {
        if (event.target instanceof IDBDatabase) event.target.close();
      },
    });
  } catch {
    return null; // no database, or the browser refuses them: then the vault stored nothing either
  }
}
