import type { Page } from "@playwright/test";

/** Something that this browser keeps for the origin, or that a kept key makes of it. */
export interface Kept {
  /** Database, store and member; or the name in another storage. */
  readonly where: string;
  readonly bytes: Buffer;
}

export interface KeptKey {
  readonly where: string;
  /** `secret`, `public` or `private`. */
  readonly type: string;
  readonly algorithm: string;
  readonly extractable: boolean;
  readonly usages: readonly string[];
}

export interface KeptByTheOrigin {
  readonly kept: readonly Kept[];
  readonly keys: readonly KeptKey[];
  /** What the keys gave away, by any of their usages. */
  readonly given: readonly Kept[];
  /**
   * Pairs of an `iv` and sealed bytes, and JWEs, that no key here opened. Where there are any, the
   * attack does not know enough to be believed.
   */
  readonly unopened: readonly string[];
}

/**
 * Everything that script of the origin can read of what the browser keeps for it, at the moment:
 * IndexedDB, private files, local and session storage, caches, cookies, the history entry's state
 * and the window's name. Each key is tried in each of its usages on everything that could be meant
 * for it.
 *
 * @param tried.purposes what the vault adds to what it wraps (`relicario/device/<purpose>`), for
 *   each name that the storage knows
 * @param tried.documents of the service, compact JWE: the keys are tried on them, and on those that
 *   they hold
 */
export async function keptByTheOrigin(
  page: Page,
  tried: { readonly purposes: readonly string[]; readonly documents: readonly string[] },
): Promise<KeptByTheOrigin> {
  const { kept, given, ...rest } = await page.evaluate(readEverything, tried);
  const decoded = (list: readonly { where: string; base64: string }[]): Kept[] =>
    list.map(({ where, base64 }) => ({ where, bytes: Buffer.from(base64, "base64") }));
  return { ...rest, kept: decoded(kept), given: decoded(given) };
}

interface Encoded {
  where: string;
  base64: string;
}

/** Runs in the page, so it can use nothing from outside. */
async function readEverything({
  purposes,
  documents,
}: {
  readonly purposes: readonly string[];
  readonly documents: readonly string[];
}): Promise<{ kept: Encoded[]; keys: KeptKey[]; given: Encoded[]; unopened: string[] }> {
  const utf8 = new TextEncoder();
  const kept: { where: string; bytes: Uint8Array<ArrayBuffer> }[] = [];
  const keys: { where: string; key: CryptoKey }[] = [];
  const pairs: { where: string; iv: Uint8Array<ArrayBuffer>; data: Uint8Array<ArrayBuffer> }[] = [];
  const names = new Set<string>();

  const keep = (where: string, bytes: Uint8Array<ArrayBuffer>): void => {
    kept.push({ where, bytes });
  };
  const bytesOf = (value: unknown): Uint8Array<ArrayBuffer> | null => {
    if (value instanceof ArrayBuffer) return new Uint8Array(value.slice(0));
    return ArrayBuffer.isView(value)
      ? new Uint8Array(value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength) as ArrayBuffer)
      : null;
  };

  async function walk(value: unknown, where: string): Promise<void> {
    const bytes = bytesOf(value);
    if (bytes !== null) {
      keep(where, bytes);
    } else if (value instanceof CryptoKey) {
      keys.push({ where, key: value });
    } else if (value instanceof Blob) {
      keep(where, new Uint8Array(await value.arrayBuffer()));
    } else if (value instanceof FileSystemHandle) {
      keep(where, utf8.encode(value.name));
    } else if (Array.isArray(value) || value instanceof Set) {
      let index = 0;
      for (const one of value) await walk(one, `${where}[${String(index++)}]`);
    } else if (value instanceof Map) {
      for (const [name, one] of value) await walk([name, one], `${where}.${String(name)}`);
    } else if (typeof value === "object" && value !== null) {
      const members = Object.entries(value);
      const iv = members
        .map(([name, one]) => (/^(iv|nonce)$/i.test(name) ? bytesOf(one) : null))
        .find((found) => found !== null);
      for (const [name, one] of members) {
        const data = bytesOf(one);
        if (iv !== undefined && data !== null && data.length >= 16) pairs.push({ where: `${where}.${name}`, iv, data });
        await walk(one, `${where}.${name}`);
      }
    } else if (typeof value === "string") {
      keep(where, utf8.encode(value));
    } else if (typeof value === "number" || typeof value === "bigint") {
      keep(where, utf8.encode(value.toString()));
    }
  }

  const asked = <T>(request: IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(new Error("IndexedDB refused"));
    });
  for (const { name = "" } of await indexedDB.databases()) {
    const database = await asked(indexedDB.open(name));
    for (const store of database.objectStoreNames) {
      const objects = database.transaction(store).objectStore(store);
      const [places, values] = await Promise.all([asked(objects.getAllKeys()), asked(objects.getAll())]);
      for (const [index, place] of places.entries()) {
        for (const part of [place].flat()) if (typeof part === "string") names.add(part);
        const where = `${name}/${store}/${JSON.stringify(place)}`;
        await walk(place, `${where} (its key)`);
        await walk(values[index], where);
      }
    }
    database.close();
  }

  async function files(folder: FileSystemDirectoryHandle, where: string): Promise<void> {
    for await (const [name, handle] of folder.entries()) {
      keep(`${where}/${name} (its name)`, utf8.encode(name));
      if (handle instanceof FileSystemDirectoryHandle) await files(handle, `${where}/${name}`);
      else if (handle instanceof FileSystemFileHandle)
        keep(`${where}/${name}`, new Uint8Array(await (await handle.getFile()).arrayBuffer()));
    }
  }
  await files(await navigator.storage.getDirectory(), "private files");

  for (const [kind, storage] of [
    ["local storage", localStorage],
    ["session storage", sessionStorage],
  ] as const) {
    for (const [name, value] of Object.entries(storage)) {
      keep(`${kind}/${name} (its name)`, utf8.encode(name));
      keep(`${kind}/${name}`, utf8.encode(String(value)));
    }
  }
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const request of await cache.keys()) {
      keep(`caches/${name}`, utf8.encode(request.url));
      keep(
        `caches/${name}/${request.url}`,
        new Uint8Array((await (await cache.match(request))?.arrayBuffer()) ?? new ArrayBuffer(0)),
      );
    }
  }
  if (document.cookie !== "") keep("cookies", utf8.encode(document.cookie));
  await walk(history.state, "the history entry's state");
  if (window.name !== "") keep("the window's name", utf8.encode(window.name));
  for (const { scope } of await navigator.serviceWorker.getRegistrations()) keep("service workers", utf8.encode(scope));

  const given: { where: string; bytes: Uint8Array<ArrayBuffer> }[] = [];
  const opened = new Set<string>();
  const attempt = async (where: string, work: () => Promise<ArrayBuffer | JsonWebKey>): Promise<boolean> => {
    try {
      const result = await work();
      given.push({
        where,
        bytes: result instanceof ArrayBuffer ? new Uint8Array(result) : utf8.encode(JSON.stringify(result)),
      });
      return true;
    } catch {
      return false; // this key does not do that
    }
  };
  const added = [
    undefined,
    ...purposes.flatMap((purpose) => [...names, ""].map((name) => utf8.encode(`relicario/device/${purpose}\n${name}`))),
  ];
  const labels = ["identity", "sign", "label", "book", "shares", "requests", "state", "inner"];
  for (const { where, key } of keys) {
    for (const format of ["raw", "jwk", "pkcs8", "spki"] as const) {
      if (key.type === "public") continue; // public halves are no secret
      await attempt(`${where}, exported as ${format}`, () =>
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
      await attempt(`${where}, deriving ${label}`, () => crypto.subtle.deriveBits(params, key, 256));
      await attempt(`${where}, deriving a key for ${label}`, async () =>
        crypto.subtle.exportKey(
          "raw",
          await crypto.subtle.deriveKey(params, key, { name: "AES-GCM", length: 256 }, true, ["encrypt"]),
        ),
      );
    }
    for (const { where: wrapping, key: by } of keys) {
      await attempt(`${where}, wrapped by ${wrapping}`, () =>
        crypto.subtle.wrapKey("raw", key, by, { name: "AES-GCM", iv: new Uint8Array(12) }),
      );
    }
    for (const { where: place, iv, data } of pairs) {
      for (const additionalData of added) {
        const params = { name: "AES-GCM", iv, ...(additionalData === undefined ? {} : { additionalData }) };
        const decrypted = await attempt(`${place}, decrypted by ${where}`, () =>
          crypto.subtle.decrypt(params, key, data),
        );
        const unwrapped = await attempt(`${place}, unwrapped by ${where}`, async () =>
          crypto.subtle.exportKey(
            "raw",
            await crypto.subtle.unwrapKey("raw", data, key, params, "AES-GCM", true, ["encrypt"]),
          ),
        );
        if (decrypted || unwrapped) opened.add(place);
      }
    }
  }

  // Whatever has the length of an account key is tried as one.
  const tried = keys.filter(({ key }) => key.usages.includes("decrypt"));
  for (const { where, bytes } of given.filter((one) => one.bytes.length === 32)) {
    const secret = await crypto.subtle.importKey("raw", bytes, "HKDF", false, ["deriveKey"]);
    for (const label of labels) {
      const params = {
        name: "HKDF",
        hash: "SHA-256",
        salt: new Uint8Array(),
        info: utf8.encode(`relicario/v1/${label}`),
      };
      tried.push({
        where: `${label} key of ${where}`,
        key: await crypto.subtle.deriveKey(params, secret, { name: "AES-GCM", length: 256 }, false, ["decrypt"]),
      });
    }
  }
  const decoded = (text: string): Uint8Array<ArrayBuffer> =>
    Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  const jwesIn = (bytes: Uint8Array<ArrayBuffer> | undefined): string[] =>
    new TextDecoder().decode(bytes).match(/[\w-]+\.\.[\w-]{16}\.[\w-]+\.[\w-]{22}/g) ?? [];
  const keptJwes = kept.flatMap(({ where, bytes }) =>
    bytes.length > 100_000 ? [] : jwesIn(bytes).map((document) => ({ where, document })),
  ); // contents are no documents
  const waiting = [...documents, ...keptJwes.map(({ document }) => document)];
  for (let document = waiting.pop(); document !== undefined; document = waiting.pop()) {
    const [header = "", , iv = "", text = "", tag = ""] = document.split(".");
    const data = new Uint8Array([...decoded(text), ...decoded(tag)]);
    for (const { where, key } of tried) {
      const params = { name: "AES-GCM", iv: decoded(iv), additionalData: utf8.encode(header) };
      if (
        !(await attempt(`a document ${atob(header)}, decrypted by ${where}`, () =>
          crypto.subtle.decrypt(params, key, data),
        ))
      )
        continue;
      opened.add(document);
      waiting.push(...jwesIn(given.at(-1)?.bytes));
    }
  }

  const encoded = (list: readonly { where: string; bytes: Uint8Array<ArrayBuffer> }[]): Encoded[] =>
    list.map(({ where, bytes }) => {
      let text = "";
      for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
      return { where, base64: btoa(text) };
    });
  return {
    kept: encoded(kept),
    keys: keys.map(({ where, key: { type, algorithm, extractable, usages } }) => ({
      where,
      type,
      algorithm: algorithm.name,
      extractable,
      usages,
    })),
    given: encoded(given),
    unopened: [
      ...pairs.filter(({ where }) => !opened.has(where)),
      ...keptJwes.filter(({ document }) => !opened.has(document)),
    ].map(({ where }) => where),
  };
}
