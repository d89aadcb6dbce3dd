import type { Page } from "@playwright/test";

import { evaluateAtVault } from "./vault-origin.ts";

/** An item that the browser stores for the origin, or that a stored key produces. */
export interface StoredItem {
  /** Database, store and member; or the name in another storage. */
  readonly where: string;
  readonly bytes: Buffer;
}

interface StoredKey {
  readonly where: string;
  /** `secret`, `public` or `private`. */
  readonly type: string;
  readonly algorithm: string;
  readonly extractable: boolean;
  readonly usages: readonly string[];
}

export interface OriginStorage {
  readonly stored: readonly StoredItem[];
  readonly keys: readonly StoredKey[];
  /** Output of the keys, by any of their usages. */
  readonly derived: readonly StoredItem[];
  /**
   * Pairs of an `iv` and sealed bytes, and JWEs, that no key in the storage opened. If there are
   * any, the attack is incomplete and proves nothing.
   */
  readonly undecrypted: readonly string[];
}

/**
 * Reads everything that script of the portal's or the vault's origin can read: IndexedDB, private
 * files, local and session storage, caches, cookies, the history entry's state and the window's
 * name. Tries each key, in each of its usages, on everything that it may open.
 *
 * @param attackInputs.purposes additional data of what the vault wraps
 *   (`relicario/device/<purpose>`), for each name in the storage
 * @param attackInputs.documents compact JWE of the service: the keys are tried on them, and on the
 *   documents inside
 */
export async function readOriginStorage(
  page: Page,
  vaultOrigin: string,
  attackInputs: { readonly purposes: readonly string[]; readonly documents: readonly string[] },
): Promise<OriginStorage> {
  const ofPage = await page.evaluate(readAllStorage, attackInputs);
  const ofVault = await evaluateAtVault(page, vaultOrigin, readAllStorage, attackInputs);
  const decodeItems = (list: readonly { where: string; base64: string }[]): StoredItem[] =>
    list.map(({ where, base64 }) => ({ where, bytes: Buffer.from(base64, "base64") }));
  return {
    stored: decodeItems([...ofPage.stored, ...ofVault.stored]),
    derived: decodeItems([...ofPage.derived, ...ofVault.derived]),
    keys: [...ofPage.keys, ...ofVault.keys],
    undecrypted: [...ofPage.undecrypted, ...ofVault.undecrypted],
  };
}

interface EncodedItem {
  where: string;
  base64: string;
}

/** Runs in the page, so it can use nothing from outside. */
async function readAllStorage({
  purposes,
  documents,
}: {
  readonly purposes: readonly string[];
  readonly documents: readonly string[];
}): Promise<{ stored: EncodedItem[]; keys: StoredKey[]; derived: EncodedItem[]; undecrypted: string[] }> {
  const utf8 = new TextEncoder();
  const stored: { where: string; bytes: Uint8Array<ArrayBuffer> }[] = [];
  const keys: { where: string; key: CryptoKey }[] = [];
  const pairs: { where: string; iv: Uint8Array<ArrayBuffer>; data: Uint8Array<ArrayBuffer> }[] = [];
  const names = new Set<string>();

  const addItem = (where: string, bytes: Uint8Array<ArrayBuffer>): void => {
    stored.push({ where, bytes });
  };
  const toBytes = (value: unknown): Uint8Array<ArrayBuffer> | null => {
    if (value instanceof ArrayBuffer) return new Uint8Array(value.slice(0));
    return ArrayBuffer.isView(value)
      ? new Uint8Array(value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength) as ArrayBuffer)
      : null;
  };

  async function visitValue(value: unknown, where: string): Promise<void> {
    const bytes = toBytes(value);
    if (bytes !== null) {
      addItem(where, bytes);
    } else if (value instanceof CryptoKey) {
      keys.push({ where, key: value });
    } else if (value instanceof Blob) {
      addItem(where, new Uint8Array(await value.arrayBuffer()));
    } else if (value instanceof FileSystemHandle) {
      addItem(where, utf8.encode(value.name));
    } else if (Array.isArray(value) || value instanceof Set) {
      let index = 0;
      for (const element of value) await visitValue(element, `${where}[${String(index++)}]`);
    } else if (value instanceof Map) {
      for (const [name, element] of value) await visitValue([name, element], `${where}.${String(name)}`);
    } else if (typeof value === "object" && value !== null) {
      const members = Object.entries(value);
      const iv = members
        .map(([name, element]) => (/^(iv|nonce)$/i.test(name) ? toBytes(element) : null))
        .find((candidate) => candidate !== null);
      for (const [name, element] of members) {
        const data = toBytes(element);
        if (iv !== undefined && data !== null && data.length >= 16) pairs.push({ where: `${where}.${name}`, iv, data });
        await visitValue(element, `${where}.${name}`);
      }
    } else if (typeof value === "string") {
      addItem(where, utf8.encode(value));
    } else if (typeof value === "number" || typeof value === "bigint") {
      addItem(where, utf8.encode(value.toString()));
    }
  }

  const resolveRequest = <T>(request: IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(new Error("IndexedDB refused"));
    });
  for (const { name = "" } of await indexedDB.databases()) {
    const database = await resolveRequest(indexedDB.open(name));
    for (const store of database.objectStoreNames) {
      const objects = database.transaction(store).objectStore(store);
      const [recordKeys, values] = await Promise.all([
        resolveRequest(objects.getAllKeys()),
        resolveRequest(objects.getAll()),
      ]);
      for (const [index, recordKey] of recordKeys.entries()) {
        for (const part of [recordKey].flat()) if (typeof part === "string") names.add(part);
        const where = `${name}/${store}/${JSON.stringify(recordKey)}`;
        await visitValue(recordKey, `${where} (its key)`);
        await visitValue(values[index], where);
      }
    }
    database.close();
  }

  async function visitFolder(folder: FileSystemDirectoryHandle, where: string): Promise<void> {
    for await (const [name, handle] of folder.entries()) {
      addItem(`${where}/${name} (its name)`, utf8.encode(name));
      if (handle instanceof FileSystemDirectoryHandle) await visitFolder(handle, `${where}/${name}`);
      else if (handle instanceof FileSystemFileHandle)
        addItem(`${where}/${name}`, new Uint8Array(await (await handle.getFile()).arrayBuffer()));
    }
  }
  await visitFolder(await navigator.storage.getDirectory(), "private files");

  for (const [kind, storage] of [
    ["local storage", localStorage],
    ["session storage", sessionStorage],
  ] as const) {
    for (const [name, value] of Object.entries(storage)) {
      addItem(`${kind}/${name} (its name)`, utf8.encode(name));
      addItem(`${kind}/${name}`, utf8.encode(String(value)));
    }
  }
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const request of await cache.keys()) {
      addItem(`caches/${name}`, utf8.encode(request.url));
      addItem(
        `caches/${name}/${request.url}`,
        new Uint8Array((await (await cache.match(request))?.arrayBuffer()) ?? new ArrayBuffer(0)),
      );
    }
  }
  if (document.cookie !== "") addItem("cookies", utf8.encode(document.cookie));
  await visitValue(history.state, "the history entry's state");
  if (window.name !== "") addItem("the window's name", utf8.encode(window.name));
  for (const { scope } of await navigator.serviceWorker.getRegistrations())
    addItem("service workers", utf8.encode(scope));

  const derived: { where: string; bytes: Uint8Array<ArrayBuffer> }[] = [];
  const decryptedLocations = new Set<string>();
  const tryKey = async (where: string, operation: () => Promise<ArrayBuffer | JsonWebKey>): Promise<boolean> => {
    try {
      const result = await operation();
      derived.push({
        where,
        bytes: result instanceof ArrayBuffer ? new Uint8Array(result) : utf8.encode(JSON.stringify(result)),
      });
      return true;
    } catch {
      return false; // this key does not do that
    }
  };
  const additionalDataCandidates = [
    undefined,
    ...purposes.flatMap((purpose) => [...names, ""].map((name) => utf8.encode(`relicario/device/${purpose}\n${name}`))),
  ];
  const labels = ["identity", "sign", "label", "book", "shares", "requests", "state", "inner"];
  for (const { where, key } of keys) {
    for (const format of ["raw", "jwk", "pkcs8", "spki"] as const) {
      if (key.type === "public") continue; // public halves are no secret
      await tryKey(`${where}, exported as ${format}`, () =>
        format === "jwk" ? crypto.subtle.exportKey(format, key) : crypto.subtle.exportKey(format, key),
      );
    }
    for (const label of labels) {
      const params = {
        name: "HKDF",
        hash: "SHA-256",
        salt: new Uint8Array(),
        info: utf8.encode(`relicario/v1/${label}`),
      };
      await tryKey(`${where}, deriving ${label}`, () => crypto.subtle.deriveBits(params, key, 256));
      await tryKey(`${where}, deriving a key for ${label}`, async () =>
        crypto.subtle.exportKey(
          "raw",
          await crypto.subtle.deriveKey(params, key, { name: "AES-GCM", length: 256 }, true, ["encrypt"]),
        ),
      );
    }
    for (const { where: wrappingLocation, key: wrappingKey } of keys) {
      await tryKey(`${where}, wrapped by ${wrappingLocation}`, () =>
        crypto.subtle.wrapKey("raw", key, wrappingKey, { name: "AES-GCM", iv: new Uint8Array(12) }),
      );
    }
    for (const { where: pairLocation, iv, data } of pairs) {
      for (const additionalData of additionalDataCandidates) {
        const params = { name: "AES-GCM", iv, ...(additionalData === undefined ? {} : { additionalData }) };
        const decrypted = await tryKey(`${pairLocation}, decrypted by ${where}`, () =>
          crypto.subtle.decrypt(params, key, data),
        );
        const unwrapped = await tryKey(`${pairLocation}, unwrapped by ${where}`, async () =>
          crypto.subtle.exportKey(
            "raw",
            await crypto.subtle.unwrapKey("raw", data, key, params, "AES-GCM", true, ["encrypt"]),
          ),
        );
        if (decrypted || unwrapped) decryptedLocations.add(pairLocation);
      }
    }
  }

  // Everything with the length of an account key is tried as one.
  const candidateKeys = keys.filter(({ key }) => key.usages.includes("decrypt"));
  for (const { where, bytes } of derived.filter((element) => element.bytes.length === 32)) {
    const secret = await crypto.subtle.importKey("raw", bytes, "HKDF", false, ["deriveKey"]);
    for (const label of labels) {
      const params = {
        name: "HKDF",
        hash: "SHA-256",
        salt: new Uint8Array(),
        info: utf8.encode(`relicario/v1/${label}`),
      };
      candidateKeys.push({
        where: `${label} key of ${where}`,
        key: await crypto.subtle.deriveKey(params, secret, { name: "AES-GCM", length: 256 }, false, ["decrypt"]),
      });
    }
  }
  const decodeBase64url = (text: string): Uint8Array<ArrayBuffer> =>
    Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  const findJwes = (bytes: Uint8Array<ArrayBuffer> | undefined): string[] =>
    new TextDecoder().decode(bytes).match(/[\w-]+\.\.[\w-]{16}\.[\w-]+\.[\w-]{22}/g) ?? [];
  const storedJwes = stored.flatMap(({ where, bytes }) =>
    bytes.length > 100_000 ? [] : findJwes(bytes).map((document) => ({ where, document })),
  ); // too long for a document
  const queue = [...documents, ...storedJwes.map(({ document }) => document)];
  for (let document = queue.pop(); document !== undefined; document = queue.pop()) {
    const [header = "", , iv = "", text = "", tag = ""] = document.split(".");
    const data = new Uint8Array([...decodeBase64url(text), ...decodeBase64url(tag)]);
    for (const { where, key } of candidateKeys) {
      const params = { name: "AES-GCM", iv: decodeBase64url(iv), additionalData: utf8.encode(header) };
      if (
        !(await tryKey(`a document ${atob(header)}, decrypted by ${where}`, () =>
          crypto.subtle.decrypt(params, key, data),
        ))
      )
        continue;
      decryptedLocations.add(document);
      queue.push(...findJwes(derived.at(-1)?.bytes));
    }
  }

  const encodeItems = (list: readonly { where: string; bytes: Uint8Array<ArrayBuffer> }[]): EncodedItem[] =>
    list.map(({ where, bytes }) => {
      let text = "";
      for (let offset = 0; offset < bytes.length; offset += 0x8000)
        text += String.fromCharCode(...bytes.subarray(offset, offset + 0x8000));
      return { where, base64: btoa(text) };
    });
  return {
    stored: encodeItems(stored),
    keys: keys.map(({ where, key: { type, algorithm, extractable, usages } }) => ({
      where,
      type,
      algorithm: algorithm.name,
      extractable,
      usages,
    })),
    derived: encodeItems(derived),
    undecrypted: [
      ...pairs.filter(({ where }) => !decryptedLocations.has(where)),
      ...storedJwes.filter(({ document }) => !decryptedLocations.has(document)),
    ].map(({ where }) => where),
  };
}
