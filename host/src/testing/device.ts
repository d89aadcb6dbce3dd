import {
  buildAccountStorageKey,
  deviceStorage,
  buildOpenedFileLockName,
  type DeviceAccount,
} from "@relicario/shared/contract";
import { openDB } from "idb";

const { vault, uploads, rows } = deviceStorage;

/**
 * Stores on this device what the vault stores: a record, uploads, the device key and, with
 * `withRows`, sealed rows.
 */
export async function fillDevice(
  account: DeviceAccount,
  record: Readonly<Record<string, unknown>> | null,
  uploadIds: readonly string[] = [],
  withRows = false,
): Promise<void> {
  const name = buildAccountStorageKey(account);
  const vaultDatabase = await openDB(vault.database, 1, {
    upgrade: (database) => {
      database.createObjectStore(vault.keys);
      database.createObjectStore(vault.accounts);
    },
  });
  if (record !== null) await vaultDatabase.put(vault.accounts, record, name);
  await vaultDatabase.put(
    vault.keys,
    await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]),
    vault.deviceKey,
  );
  vaultDatabase.close();
  const uploadDatabase = await openDB(uploads.database, 1, {
    upgrade: (database) => {
      database.createObjectStore(uploads.uploads);
    },
  });
  for (const id of uploadIds) await uploadDatabase.put(uploads.uploads, { account: name, uploadId: id }, [name, id]);
  uploadDatabase.close();
  if (!withRows) return;
  const rowDatabase = await openDB(rows.database, 1, {
    upgrade: (database) => {
      database.createObjectStore(rows.heads);
      database.createObjectStore(rows.blocks);
    },
  });
  await rowDatabase.put(rows.heads, { of: name }, name);
  for (const block of [0, 63]) await rowDatabase.put(rows.blocks, { of: name }, [name, block]);
  rowDatabase.close();
}

/** Local storage of the origin, and its items. */
export function createOriginStorage(): {
  readonly items: Map<string, string>;
  readonly storage: Pick<Storage, "getItem" | "key" | "length" | "removeItem" | "setItem">;
} {
  const items = new Map<string, string>();
  const storage = {
    getItem: (key: string) => items.get(key) ?? null,
    key: (index: number) => [...items.keys()][index] ?? null,
    get length() {
      return items.size;
    },
    removeItem: (key: string) => void items.delete(key),
    setItem: (key: string, value: string) => void items.set(key, value),
  };
  return { items, storage };
}

/** All entries of all databases of this origin, by database and store. */
export async function readAllDatabases(): Promise<Readonly<Record<string, readonly (readonly [unknown, unknown])[]>>> {
  const contents: Record<string, (readonly [unknown, unknown])[]> = {};
  for (const { name = "" } of await indexedDB.databases()) {
    const database = await openDB(name);
    for (const store of database.objectStoreNames) {
      const [keys, values] = [await database.getAllKeys(store), await database.getAll(store)];
      contents[`${name}/${store}`] = keys.map((key, index) => [key, values[index]]);
    }
    database.close();
  }
  return contents;
}

export interface FakeFolder {
  readonly files: Map<string, "closed" | "open">;
  /** Closes a file and releases its Web Lock, as the end of its worker does. */
  readonly closeFile: (file: string) => void;
}

/** Fakes private files of this origin. As in a browser, an open file cannot be removed. */
export function installPrivateFiles(): FakeFolder {
  const files = new Map<string, "closed" | "open">();
  const waiters = new Map<string, () => void>();
  const createError = (name: string) => Object.assign(new Error(name), { name });
  const folder = {
    keys: () => [...files.keys()].values(),
    removeEntry: (name: string) => {
      if (!files.has(name)) return Promise.reject(createError("NotFoundError"));
      if (files.get(name) === "open") return Promise.reject(createError("NoModificationAllowedError"));
      files.delete(name);
      return Promise.resolve();
    },
  };
  const root = {
    getDirectoryHandle: (name: string) =>
      name === deviceStorage.openedFilesFolder ? Promise.resolve(folder) : Promise.reject(createError("NotFoundError")),
  };
  const request = async (name: string, { signal }: LockOptions, callback: () => unknown) => {
    signal?.throwIfAborted();
    await new Promise<void>((resolve) => {
      waiters.set(name, resolve);
    });
    return callback();
  };
  // Replaces the navigator only for this test: the original belongs to the process, which runs
  // other tests later.
  Object.defineProperty(globalThis, "navigator", {
    value: { storage: { getDirectory: () => Promise.resolve(root) }, locks: { request } },
    configurable: true,
  });
  return {
    files,
    closeFile: (file) => {
      files.set(file, "closed");
      waiters.get(buildOpenedFileLockName(file))?.();
    },
  };
}
