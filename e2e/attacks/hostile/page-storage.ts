/** Runs in the page: everything that its origin stores, each item in base64. */
export async function readPageStorage(): Promise<readonly string[]> {
  const items: string[] = [];
  const encode = (bytes: Uint8Array): void => {
    let binary = "";
    for (let offset = 0; offset < bytes.length; offset += 0x8000)
      binary += String.fromCharCode(...bytes.subarray(offset, offset + 0x8000));
    items.push(btoa(binary));
  };
  const visit = async (value: unknown): Promise<void> => {
    if (value instanceof ArrayBuffer) encode(new Uint8Array(value));
    else if (ArrayBuffer.isView(value)) encode(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    else if (value instanceof Blob) encode(new Uint8Array(await value.arrayBuffer()));
    else if (typeof value === "string") encode(new TextEncoder().encode(value));
    else if (typeof value === "object" && value !== null && !(value instanceof CryptoKey))
      for (const member of Object.values(value)) await visit(member);
  };
  const resolveRequest = <T>(request: IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(new Error("IndexedDB refused"));
    });
  for (const { name = "" } of await indexedDB.databases()) {
    const database = await resolveRequest(indexedDB.open(name));
    for (const store of database.objectStoreNames) {
      const objects = database.transaction(store).objectStore(store);
      await visit(await Promise.all([resolveRequest(objects.getAllKeys()), resolveRequest(objects.getAll())]));
    }
    database.close();
  }
  for (const storage of [localStorage, sessionStorage]) await visit(Object.entries(storage));
  for (const name of await caches.keys())
    for (const response of await (await caches.open(name)).matchAll()) await visit(await response.arrayBuffer());
  const visitFolder = async (folder: FileSystemDirectoryHandle): Promise<void> => {
    for await (const [name, handle] of folder.entries()) {
      await visit(name);
      if (handle instanceof FileSystemDirectoryHandle) await visitFolder(handle);
      else if (handle instanceof FileSystemFileHandle) await visit(await handle.getFile());
    }
  };
  if ("storage" in navigator && "getDirectory" in navigator.storage)
    // WebKitGTK has none
    await visitFolder(await navigator.storage.getDirectory());
  await visit([document.cookie, window.name, history.state]);
  return items;
}

/** Runs in the page: stores a text in each kind of storage that {@link readPageStorage} reads. */
export async function plantInPageStorage(text: string): Promise<void> {
  localStorage.setItem("planted", text);
  const bytes = new TextEncoder().encode(text); // WebKitGTK stores no Blob while it is driven
  const request = indexedDB.open("planted", 1);
  await new Promise((resolve, reject) => {
    request.onupgradeneeded = () => request.result.createObjectStore("planted").put(bytes, 1);
    request.onsuccess = resolve;
    request.onerror = reject;
  });
  request.result.close();
  await (await caches.open("planted")).put("/planted", new Response(text));
}
