import { openFolderStore } from "./folder-store.ts";
import { MissingObjectError, type ObjectStore } from "./object-store.ts";
import { parseStoreAddress } from "./store-address.ts";

/**
 * Opens a folder or, for `s3://…`, a bucket.
 *
 * @throws TypeError for any other address
 */
export async function openObjectStore(url: string): Promise<ObjectStore> {
  const address = parseStoreAddress(url);
  if (address === null) return openFolderStore(url);
  const { openS3Store } = await import("./s3-store.ts"); // 32 MB that a folder does not need
  return openS3Store(address);
}

/** Writes to `store`; reads from both and deletes in both, while objects move between them. */
export function combineStores(store: ObjectStore, secondStore: ObjectStore): ObjectStore {
  return {
    put: (key, bytes, expected) => store.put(key, bytes, expected),
    read: (key) =>
      store.read(key).catch((error: unknown) => {
        if (error instanceof MissingObjectError) return secondStore.read(key);
        throw error;
      }),
    async delete(key) {
      await Promise.all([store.delete(key), secondStore.delete(key)]);
    },
    async *list() {
      yield* store.list();
      yield* secondStore.list();
    },
    async check() {
      await Promise.all([store.check(), secondStore.check()]);
    },
  };
}
