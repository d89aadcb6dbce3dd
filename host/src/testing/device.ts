import { accountName, keptOnDevice, openedFileLock, type DeviceAccount } from "@relicario/shared/contract";
import { openDB } from "idb";

const { vault, uploads, rows } = keptOnDevice;

/**
 * Fills this device as the vault does: a record, uploads, the device key and, where `listed`,
 * sealed rows.
 */
export async function keepOnDevice(
  account: DeviceAccount,
  record: Readonly<Record<string, unknown>> | null,
  uploadIds: readonly string[] = [],
  listed = false,
): Promise<void> {
  const name = accountName(account);
  const ofVault = await openDB(vault.database, 1, {
    upgrade: (database) => {
      database.createObjectStore(vault.keys);
      database.createObjectStore(vault.accounts);
    },
  });
  if (record !== null) await ofVault.put(vault.accounts, record, name);
  await ofVault.put(
    vault.keys,
    await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]),
    vault.deviceKey,
  );
  ofVault.close();
  const ofUploads = await openDB(uploads.database, 1, {
    upgrade: (database) => {
      database.createObjectStore(uploads.uploads);
    },
  });
  for (const id of uploadIds) await ofUploads.put(uploads.uploads, { account: name, uploadId: id }, [name, id]);
  ofUploads.close();
  if (!listed) return;
  const ofRows = await openDB(rows.database, 1, {
    upgrade: (database) => {
      database.createObjectStore(rows.heads);
      database.createObjectStore(rows.blocks);
    },
  });
  await ofRows.put(rows.heads, { of: name }, name);
  for (const block of [0, 63]) await ofRows.put(rows.blocks, { of: name }, [name, block]);
  ofRows.close();
}

/** Local storage of the origin, and what stands in it. */
export function originStorage(): {
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

/** Everything in every database of this origin, by database and store. */
export async function everythingKept(): Promise<Readonly<Record<string, readonly (readonly [unknown, unknown])[]>>> {
  const found: Record<string, (readonly [unknown, unknown])[]> = {};
  for (const { name = "" } of await indexedDB.databases()) {
    const database = await openDB(name);
    for (const store of database.objectStoreNames) {
      const [keys, values] = [await database.getAllKeys(store), await database.getAll(store)];
      found[`${name}/${store}`] = keys.map((key, index) => [key, values[index]]);
    }
    database.close();
  }
  return found;
}

export interface FakeFolder {
  readonly files: Map<string, "closed" | "open">;
  /** What holds a file open ends: its file closes, and its Web Lock goes. */
  readonly end: (file: string) => void;
}

/**
 * The private files of this origin, as browsers have them: a file that is still open cannot be
 * removed.
 */
export function installPrivateFiles(): FakeFolder {
  const files = new Map<string, "closed" | "open">();
  const waiting = new Map<string, () => void>();
  const failed = (name: string) => Object.assign(new Error(name), { name });
  const folder = {
    keys: () => [...files.keys()].values(),
    removeEntry: (name: string) => {
      if (!files.has(name)) return Promise.reject(failed("NotFoundError"));
      if (files.get(name) === "open") return Promise.reject(failed("NoModificationAllowedError"));
      files.delete(name);
      return Promise.resolve();
    },
  };
  const root = {
    getDirectoryHandle: (name: string) =>
      name === keptOnDevice.openedFolder ? Promise.resolve(folder) : Promise.reject(failed("NotFoundError")),
  };
  const request = async (name: string, { signal }: LockOptions, work: () => unknown) => {
    signal?.throwIfAborted();
    await new Promise<void>((resolve) => {
      waiting.set(name, resolve);
    });
    return work();
  };
  // A navigator of this test's own: the one that was there is the process's, which runs other tests
  // after it.
  Object.defineProperty(globalThis, "navigator", {
    value: { storage: { getDirectory: () => Promise.resolve(root) }, locks: { request } },
    configurable: true,
  });
  return {
    files,
    end: (file) => {
      files.set(file, "closed");
      waiting.get(openedFileLock(file))?.();
    },
  };
}
