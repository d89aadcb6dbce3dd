/**
 * Storage of the page. Where the browser refuses it (blocked site data, some private modes), the
 * items are only in memory until the page closes. So no caller has to handle the refusal.
 */
export interface PageStorage {
  readonly local: Storage;
  readonly session: Storage;
  /** Whether `session` is only in memory. Then its items do not survive a reload or a redirect. */
  readonly isSessionRefused: () => boolean;
}

/**
 * @param page storages of the browser. Its getters throw, or return null, where storage is refused
 */
export function createPageStorage(page: {
  readonly localStorage: Storage | null;
  readonly sessionStorage: Storage | null;
}): PageStorage {
  let local: Storage | null = null;
  let session: Storage | null = null;
  let sessionRefused = false;
  const openSession = (): Storage => {
    const storage = findStorage(() => page.sessionStorage);
    sessionRefused = storage === null;
    return storage ?? createMemoryStorage();
  };
  return {
    get local() {
      return (local ??= findStorage(() => page.localStorage) ?? createMemoryStorage());
    },
    get session() {
      return (session ??= openSession());
    },
    isSessionRefused: () => {
      session ??= openSession();
      return sessionRefused;
    },
  };
}

/** Accessed when first used, so that the module also loads where there is no page. */
export const pageStorage: PageStorage = createPageStorage({
  get localStorage() {
    return globalThis.localStorage;
  },
  get sessionStorage() {
    return globalThis.sessionStorage;
  },
});

const probeKey = "storageProbe";

/**
 * Returns the browser's storage; null if the browser refuses to read or write it. A full storage
 * counts as usable.
 */
function findStorage(read: () => Storage | null): Storage | null {
  let storage: Storage | null = null;
  try {
    storage = read();
    storage?.setItem(probeKey, "");
    storage?.getItem(probeKey);
    storage?.removeItem(probeKey);
    return storage;
  } catch {
    return hasItems(storage) ? storage : null; // its items can be read, so it is only full
  }
}

function hasItems(storage: Storage | null): boolean {
  try {
    return storage !== null && storage.length > 0 && storage.key(0) !== null;
  } catch {
    return false; // reading is refused too
  }
}

function createMemoryStorage(): Storage {
  const items = new Map<string, string>();
  return {
    get length() {
      return items.size;
    },
    key: (index) => [...items.keys()][index] ?? null,
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => {
      items.set(key, value);
    },
    removeItem: (key) => {
      items.delete(key);
    },
    clear: () => {
      items.clear();
    },
  };
}
