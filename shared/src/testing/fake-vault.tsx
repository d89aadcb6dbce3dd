import { maxTitleLength, uploadHours } from "../api/index.ts";
import type {
  CallOptions,
  ContentKind,
  DeviceKind,
  KitOfSecret,
  ListOptions,
  ProtectRequest,
  ReadImport,
  RecoveredSecret,
  RecoveryImage,
  SecretChange,
  SecretRow,
  ShownImage,
  Vault,
  VaultState,
  WaitingUpload,
} from "../contract/index.ts";
import { autoLockMinutes } from "../contract/index.ts";
import { PortalError, type ErrorCode } from "../errors/index.ts";
import { openedContent } from "./fake-content.ts";
import { createFakeDeviceLinks, type FakeDeviceLinksSettings } from "./fake-device-links.ts";
import { createFakeStartAnew, type FakeStartAnewSettings } from "./fake-start-anew.ts";
import { createFakeOpeners, type FakeOpenersSettings } from "./fake-openers.ts";
import { createFakeRequests, type FakeRequestsSettings } from "./fake-requests.ts";
import { createFakeSharing, type FakeSharingSettings, type SharingMember } from "./fake-sharing.ts";
import { FakePictureField, forgetShown, textOf, whatIsShown, type PictureShown, type WhatIsShown } from "./fake-picture-field.tsx";

/** An image of the book. A picture of tests is a file of text: {@link picture}. */
export interface FakeImage {
  readonly name: string;
  /** What the file says. */
  readonly picture: string;
  readonly passphrase?: string;
}

export interface FakeSecret {
  readonly title: string;
  readonly content: string;
  readonly tags?: readonly string[];
  readonly contentKind?: ContentKind;
  readonly name?: string;
  readonly mime?: string;
  readonly favorite?: boolean;
  readonly deleted?: boolean;
  /** Too large to be held in memory: opened, its `content` is null and `save` gives it. */
  readonly large?: boolean;
  /** Its content is gone, after 30 days in the trash. */
  readonly dropped?: boolean;
  /** No key of this account signed it. */
  readonly foreign?: boolean;
  /** Contents of the versions before, oldest first. */
  readonly former?: readonly string[];
  /** Kits that hold it, the newest last. */
  readonly kits?: readonly KitOfSecret[];
}

/** An upload that an earlier page left. Resumed with a file of the text `content`, it is published. */
export interface FakeUpload {
  readonly title: string;
  readonly content: string;
  readonly name?: string;
  readonly sent?: number;
  readonly state?: WaitingUpload["state"];
  /** RFC 3339; a day from now unless told otherwise. */
  readonly expiresAt?: string;
  readonly needsFile?: boolean;
}

export interface FakeVaultSettings extends FakeSharingSettings, FakeRequestsSettings, FakeOpenersSettings, FakeDeviceLinksSettings, FakeStartAnewSettings {
  readonly images?: readonly FakeImage[];
  readonly secrets?: readonly FakeSecret[];
  readonly uploads?: readonly FakeUpload[];
  /** Whether this device holds the key at the start; true unless told otherwise. */
  readonly unlocked?: boolean;
  readonly device?: DeviceKind | null;
  /** A browser without Ed25519: an own device remembers nothing. */
  readonly forgets?: boolean;
  /** What a handle stands for; those of {@link shownImage} and the fake field unless told otherwise. `picture_needed`. */
  readonly whatIsShown?: (shown: ShownImage) => WhatIsShown;
  /** Stops the first import after one item. */
  readonly importStop?: ErrorCode;
  /** What files hold that are imported; by the exit identity where it is asked for. */
  readonly importRead?: ReadImport | ((exitIdentity: string | undefined) => ReadImport);
  /** Rows of one batch of {@link Vault.list}; all in one unless told otherwise. */
  readonly batch?: number;
}

/** Members that can be told to fail. */
type Failing = Exclude<{ [Name in keyof Vault]: Vault[Name] extends (...given: never[]) => Promise<unknown> ? Name : never }[keyof Vault], "lock" | "signOut"> | SharingMember | `openers.${keyof Vault["openers"]}` | `deviceLinks.${keyof Vault["deviceLinks"]}` | `startAnew.${keyof Vault["startAnew"]}` | `imports.${keyof Vault["imports"]}`;

export interface FakeVault extends Vault {
  /** Somebody with the link answers a request of this account. */
  readonly answerElsewhere: (requestId: string) => void;
  /** The device at hand answers what this one offers. */
  readonly admitElsewhere: () => void;
  /** From now on the member rejects so; null ends it. */
  readonly failWith: (member: Failing, code: ErrorCode | null) => void;
  /** Every call by name, in order. */
  readonly calls: readonly string[];
  /** How often listeners are attached now: 0 when every screen cleaned up. */
  readonly listeners: () => number;
  /** Pictures that {@link Vault.resumeUpload} was given to protect with, in order, whether it failed or not. */
  readonly resumedWith: readonly { readonly name: string; readonly picture: string; readonly passphrase: string | null }[];
  /** What another device saves meanwhile: content makes a version, a title alone does not. */
  readonly saveElsewhere: (secretId: string, change: { readonly title?: string; readonly content?: string }) => void;
}

/** A picture for tests: its text stands for what is seen on it. */
export function picture(text: string, name = `${text}.jpg`): File {
  return new File([text], name, { type: "image/jpeg" });
}

interface KeptVersion {
  readonly content: string;
  readonly contentKind: ContentKind;
  readonly name: string;
  readonly mime: string;
  readonly createdAt: string;
  readonly dropped?: boolean;
}

interface Kept {
  readonly secretId: string;
  readonly title: string;
  readonly tags: readonly string[];
  readonly favorite: boolean;
  readonly deletedAt: string | null;
  readonly rev: number;
  readonly large: boolean;
  readonly dropped: boolean;
  readonly foreign: boolean;
  readonly rehearsedAt: string | null;
  readonly versions: readonly [KeptVersion, ...KeptVersion[]];
  readonly kits: readonly KitOfSecret[];
}

interface KeptUpload extends WaitingUpload {
  readonly content: string;
}

const start = Date.parse("2026-11-01T09:00:00.000Z");
const bytesOf = (text: string) => new TextEncoder().encode(text).length;

/** A well-behaved vault in memory: same members, same errors as the real one, no sealing. */
export function createFakeVault(settings: FakeVaultSettings = {}): FakeVault {
  const resolve = settings.whatIsShown ?? whatIsShown;
  /** Secrets by the origin of the item that they were. */
  const imported = new Map<string, string>();
  const resolvePicture = (shown: ShownImage): PictureShown => {
    const given = resolve(shown);
    if ("kind" in given) throw new PortalError("picture_needed");
    return given;
  };
  const failures = new Map<string, ErrorCode>();
  const listeners = new Set<() => void>();
  const calls: string[] = [];
  const resumedWith: FakeVault["resumedWith"][number][] = [];
  const book: (FakeImage & RecoveryImage)[] = [];
  const kept = new Map<string, Kept>();
  const uploads = new Map<string, KeptUpload>();
  let made = 0;
  let minutes: number = autoLockMinutes.usual;
  let gone = false;
  /** Whether an opener was shown since the last lock. */
  let openerShown = false;

  const nextId = () => `01890a5d-ac96-7000-8000-${(++made).toString(16).padStart(12, "0")}`;
  const nextTime = () => new Date(start + made * 86_400_000).toISOString();
  const addImage = (image: FakeImage): string => {
    const id = nextId();
    book.push({ ...image, id, createdAt: nextTime() });
    return id;
  };
  const addSecret = (secret: FakeSecret): string => {
    const secretId = nextId();
    const { title, tags = [], favorite = false, large = false, dropped = false, foreign = false, former = [], kits = [], contentKind = "text", name = "secret.txt", mime = "text/plain" } = secret;
    const version = (content: string): KeptVersion => ({ content, contentKind, name, mime, createdAt: nextTime() });
    const [first, ...rest] = [...former, secret.content];
    const deletedAt = secret.deleted === true ? nextTime() : null;
    kept.set(secretId, { secretId, title, tags, favorite, large, dropped, foreign, rehearsedAt: null, deletedAt, rev: 1 + former.length, versions: [version(first), ...rest.map(version)], kits });
    return secretId;
  };
  for (const image of settings.images ?? []) addImage(image);
  for (const secret of settings.secrets ?? []) addSecret(secret);
  if (kept.size > 0 && book.length === 0) addImage({ name: "garden", picture: "garden" });
  for (const upload of settings.uploads ?? []) {
    const { title, content, name = "film.mp4", sent = 0, state: at = "waiting", expiresAt = new Date(Date.now() + uploadHours * 3_600_000).toISOString(), needsFile = true } = upload;
    const uploadId = nextId();
    uploads.set(uploadId, { uploadId, secretId: nextId(), version: 1, title, name, content, size: bytesOf(content), sent, startedAt: nextTime(), expiresAt, state: at, needsFile });
  }

  let state: VaultState = book.length === 0 ? { status: "empty" } : settings.unlocked === false ? { status: "locked" } : { status: "unlocked", device: settings.device ?? "own" };
  const become = (next: VaultState) => {
    state = next;
    for (const listener of [...listeners]) listener();
  };

  const enter = (member: Failing | "lock" | "signOut", options?: CallOptions) => {
    calls.push(member);
    if (gone) throw new PortalError("vault_unavailable");
    refuseCancelled(options);
    const code = failures.get(member);
    if (code !== undefined) throw new PortalError(code);
  };
  const require = (secretId: string): Kept => {
    const secret = kept.get(secretId);
    if (secret === undefined) throw new PortalError("not_found");
    return secret;
  };
  const requireUnlocked = () => {
    if (state.status !== "unlocked") throw new PortalError("vault_locked");
  };
  const open = async (shown: ShownImage): Promise<void> => {
    if (book.length === 0) throw new PortalError("no_keyring");
    if (keys.openByKey(resolve(shown))) {
      openerShown = true;
      return;
    }
    const { picture: blob, passphrase } = resolvePicture(shown);
    const text = await textOf(blob);
    const same = book.filter((image) => image.picture === text);
    if (same.some((image) => (image.passphrase ?? null) === passphrase)) {
      openerShown = true;
      return;
    }
    throw new PortalError(same.some((image) => image.passphrase !== undefined) || passphrase !== null ? "not_this_picture_or_passphrase" : "not_this_picture");
  };
  const unlock = () => {
    if (state.status !== "unlocked") become({ status: "unlocked", device: settings.device ?? null });
  };
  const enterProtection = async (protection: ProtectRequest["protection"]): Promise<void> => {
    if (protection.kind === "openers") {
      if (book.length === 0) throw new PortalError("opener_needed");
      return;
    }
    const { passphrase, picture: blob } = resolvePicture(protection.shown);
    const text = await textOf(blob);
    const known = book.find((image) => image.picture === text);
    if (known === undefined) addImage({ name: protection.name, picture: text, ...(passphrase === null ? {} : { passphrase }) });
    else if (known.passphrase === undefined && passphrase !== null) throw new PortalError("picture_has_no_passphrase");
    else if ((known.passphrase ?? null) !== passphrase) throw new PortalError("not_this_picture_or_passphrase");
  };
  const addVersion = (secret: Kept, version: Omit<KeptVersion, "createdAt">, change: { title?: string; tags?: readonly string[] } = {}): number => {
    made++;
    kept.set(secret.secretId, { ...secret, ...change, rev: secret.rev + 1, versions: [...secret.versions, { ...version, createdAt: nextTime() }], kits: secret.kits.map((kit) => ({ ...kit, outdated: true })) });
    return secret.versions.length + 1;
  };
  const update = async (secretId: string, { baseVersion, baseRev, title, tags, content, protection }: SecretChange): Promise<number> => {
    requireUnlocked();
    const secret = require(secretId);
    const base = secret.versions.length;
    if (baseVersion !== base || (baseRev ?? secret.rev) !== secret.rev) throw new PortalError("version_conflict", { details: { version: base } });
    const named = { ...(title === undefined ? {} : { title }), ...(tags === undefined ? {} : { tags }) };
    if (content === undefined) {
      if (protection !== undefined) throw new PortalError("validation_error", { details: { fields: ["protection"] } });
      kept.set(secretId, { ...secret, ...named, rev: secret.rev + 1 });
      return base;
    }
    if (protection !== undefined) await enterProtection(protection);
    return addVersion(secret, { ...content, content: await textOf(content.content) }, named);
  };

  const showOpener = async (shown: ShownImage | null): Promise<void> => {
    if (shown !== null) {
      await open(shown);
      unlock();
    } else if (!openerShown) {
      throw new PortalError("show_opener_first");
    }
  };

  const account = { enter, requireUnlocked, showOpener };
  const startAnew = createFakeStartAnew(settings, {
    enter,
    isEmpty: () => book.length === 0,
    beginWith: async (shown, name) => {
      const { picture: blob, passphrase } = resolvePicture(shown);
      const text = await textOf(blob);
      kept.clear();
      book.length = 0;
      addImage({ name, picture: text, ...(passphrase === null ? {} : { passphrase }) });
      openerShown = true;
      become({ status: "unlocked", device: settings.device ?? null });
    },
  });
  let importStop = settings.importStop ?? null;
  const keys = createFakeOpeners(settings, {
    ...account,
    resolve,
    images: () => book,
    imageOf: async ({ picture: blob }) => {
      const text = await textOf(blob);
      return book.find((image) => image.picture === text)?.id;
    },
    removeImage: (id) => {
      book.splice(book.findIndex((image) => image.id === id), 1);
    },
    replaceImage: async (id, { picture: blob, passphrase }, name) => {
      const picture = await textOf(blob);
      book.splice(book.findIndex((image) => image.id === id), 1);
      return addImage({ name, picture, ...(passphrase === null ? {} : { passphrase }) });
    },
    secrets: () => [...kept.values()].toReversed(),
    nextId,
    nextTime,
  });
  const fake: FakeVault = {
    ...createFakeSharing(settings, account),
    ...createFakeRequests(settings, account),
    ...createFakeDeviceLinks(settings, { ...account, unlock, addKey: keys.enterDevice, secrets: () => [...kept.values()] }),
    imports: {
      read: (_files, options) => {
        enter("imports.read", options);
        const read = settings.importRead;
        if (read === undefined) throw new PortalError("vault_unavailable");
        return Promise.resolve(typeof read === "function" ? read(options.exitIdentity) : read);
      },
      compare: (items, options) => {
        enter("imports.compare", options);
        if (state.status === "locked") throw new PortalError("vault_locked");
        return Promise.resolve(
          items.map(({ origin, title }) => {
            const known = imported.get(origin);
            return known === undefined ? { standing: "new" } : { standing: require(known).title === title ? "same" : "changed", secretId: known };
          }),
        );
      },
      store: async (items, shown, options) => {
        enter("imports.store", options);
        if (state.status !== "empty") await open(shown);
        unlock();
        let [added, updated] = [0, 0];
        const failed: { index: number; code: ErrorCode }[] = [];
        for (const [at, item] of items.entries()) {
          if (added > 0 && importStop !== null) {
            const stopped = importStop;
            importStop = null;
            become({ ...state });
            return { added, updated, same: 0, failed, stopped };
          }
          const known = imported.get(item.origin);
          if (item.title.length > maxTitleLength) failed.push({ index: at, code: "validation_error" });
          else if (known === undefined) {
            imported.set(item.origin, addSecret({ ...item, content: await textOf(item.content) }));
            added += 1;
          } else if (require(known).title !== item.title) {
            const secret = require(known);
            kept.set(known, { ...secret, title: item.title });
            updated += 1;
          }
          options?.onProgress?.({ phase: "sending", done: at + 1, total: items.length });
        }
        become({ ...state });
        return { added, updated, same: items.length - added - updated - failed.length, failed, stopped: null };
      },
    },
    openers: keys.openers,
    startAnew,
    calls,
    resumedWith,
    listeners: () => listeners.size,
    failWith: (member, code) => {
      if (code === null) failures.delete(member);
      else failures.set(member, code);
    },
    saveElsewhere: (secretId, { title, content }) => {
      const secret = require(secretId);
      const named = title === undefined ? {} : { title };
      if (content === undefined) kept.set(secretId, { ...secret, ...named, rev: secret.rev + 1 });
      else addVersion(secret, { ...newestOf(secret), content }, named);
    },

    getState: () => state,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    refresh: async () => {
      enter("refresh");
      return Promise.resolve(state);
    },
    list: async (options) => {
      enter("list", options);
      const locked = state.status !== "unlocked";
      const rows = [...kept.values()].map((secret) => rowOf(secret, locked, [...book.map(({ id }) => id), ...keys.keysOf(secret.secretId)]));
      giveInBatches(rows.toReversed(), settings.batch ?? rows.length, options);
      return Promise.resolve(rows);
    },
    images: async () => {
      enter("images");
      return Promise.resolve(state.status === "unlocked" ? book.map(({ id, name, createdAt }) => ({ id, name, createdAt })) : []);
    },
    protect: async (request, options) => {
      enter("protect", options);
      if (state.status === "locked") throw new PortalError("vault_locked");
      await enterProtection(request.protection);
      tellSteps(options);
      const secretId = addSecret({ ...request, content: await textOf(request.content) });
      keys.sealed(secretId);
      if (state.status === "empty") become({ status: "unlocked", device: settings.device ?? null });
      else become({ ...state });
      return { secretId, version: 1 };
    },
    update: async (secretId, change, options) => {
      enter("update", options);
      tellSteps(options);
      return { version: await update(secretId, change) };
    },
    history: async (secretId, options) => {
      enter("history", options);
      const { versions } = require(secretId);
      const described = versions.map(({ content, createdAt, dropped = false }, index) => ({ version: index + 1, createdAt, sealedSize: bytesOf(content) + 2048, current: index + 1 === versions.length, dropped }));
      return Promise.resolve(described.toReversed());
    },
    restoreVersion: async (secretId, version, shown, options) => {
      enter("restoreVersion", options);
      const secret = require(secretId);
      const former = requireVersion(secret, version);
      await open(shown);
      unlock();
      tellSteps(options);
      return { version: addVersion(secret, former) };
    },
    removeVersions: async (secretId, numbers, options) => {
      enter("removeVersions", options);
      requireUnlocked();
      const secret = require(secretId);
      if (numbers.some((version) => version < 1 || version >= secret.versions.length)) throw new PortalError("not_found");
      const [first, ...rest] = secret.versions.map((version, index) => (numbers.includes(index + 1) ? { ...version, dropped: true } : version));
      if (first !== undefined) kept.set(secretId, { ...secret, versions: [first, ...rest] });
      return Promise.resolve();
    },
    purge: async (secretIds, options) => {
      enter("purge", options);
      requireUnlocked();
      if (secretIds.map(require).some(({ deletedAt }) => deletedAt === null)) throw new PortalError("not_in_trash");
      for (const secretId of secretIds) kept.delete(secretId);
      return Promise.resolve();
    },
    uploads: async () => {
      enter("uploads");
      const locked = state.status !== "unlocked";
      return Promise.resolve([...uploads.values()].map(({ content: _, ...upload }) => (locked ? { ...upload, title: null, name: null } : upload)));
    },
    resumeUpload: async (uploadId, file, { protection, ...options } = {}) => {
      if (protection?.kind === "picture") {
        const { picture: blob, passphrase } = resolvePicture(protection.shown);
        resumedWith.push({ name: protection.name, picture: await textOf(blob), passphrase });
      }
      enter("resumeUpload", options);
      const upload = uploads.get(uploadId);
      if (upload === undefined) throw new PortalError("not_found");
      if (upload.needsFile && (file === null || (await textOf(file)) !== upload.content)) throw new PortalError("file_changed");
      if (state.status === "locked") throw new PortalError("vault_locked");
      if (protection !== undefined) await enterProtection(protection);
      else if (book.length === 0) throw new PortalError("opener_needed");
      unlock();
      options.onProgress?.({ phase: "sending", done: upload.size, total: upload.size });
      uploads.delete(uploadId);
      return { secretId: addSecret({ title: upload.title ?? "", content: upload.content, contentKind: "file", name: upload.name ?? "", large: true }), version: 1 };
    },
    restartUpload: async (uploadId, file, options) => {
      enter("restartUpload", options);
      const upload = uploads.get(uploadId);
      if (upload === undefined) throw new PortalError("not_found");
      requireUnlocked();
      uploads.delete(uploadId);
      return { secretId: addSecret({ title: upload.title ?? "", content: await textOf(file), contentKind: "file", name: upload.name ?? "", large: true }), version: 1 };
    },
    discardUpload: async (uploadId) => {
      enter("discardUpload");
      uploads.delete(uploadId);
      return Promise.resolve();
    },
    unlock: async (shown, options) => {
      enter("unlock", options);
      await open(shown);
      unlock();
    },
    unlockByPresence: async () => {
      enter("unlockByPresence");
      if (book.length === 0) throw new PortalError("no_keyring");
      if (settings.device !== "own") throw new PortalError("opener_needed");
      unlock();
      return Promise.resolve();
    },
    recover: async (secretId, shown, options) => {
      enter("recover", options);
      const secret = require(secretId);
      const version = options?.version ?? secret.versions.length;
      const wanted = requireVersion(secret, version);
      await open(shown);
      unlock();
      return recoveredOf(secret, version, wanted);
    },
    rehearse: async (secretId, shown, options) => {
      enter("rehearse", options);
      const secret = require(secretId);
      requireVersion(secret, secret.versions.length);
      await open(shown);
      unlock();
      const rehearsedAt = nextTime();
      kept.set(secretId, { ...require(secretId), rehearsedAt });
      return { rehearsedAt };
    },
    exportSecrets: async (secretIds, shown, options) => {
      enter("exportSecrets", options);
      const secrets = secretIds.map(require);
      await open(shown);
      unlock();
      options?.onProgress?.({ phase: "fetching", done: 1, total: 1 });
      const left = secrets.filter(({ dropped }) => dropped).map(({ secretId }) => secretId);
      return { identity: "AGE-SECRET-KEY-PQ-1FAKE", archive: new Blob([`archive of ${String(secrets.length)}`]), exported: secrets.length - left.length, left, notVerified: secrets.filter(({ foreign }) => foreign).map(({ secretId }) => secretId) };
    },
    makeKit: async (secretIds, shown, options) => {
      enter("makeKit", options);
      const secrets = secretIds.map(require);
      await open(shown);
      unlock();
      options?.onProgress?.({ phase: "fetching", done: 1, total: 1 });
      const packed = secrets.filter(({ dropped }) => !dropped);
      const madeAt = nextTime();
      const kit = { sha256: (++made).toString(16).padStart(64, "0"), madeAt, outdated: false };
      for (const secret of packed) kept.set(secret.secretId, { ...secret, rev: secret.rev + 1, kits: [...secret.kits, kit] });
      return {
        name: `kit-${madeAt.slice(0, 10)}.html`,
        file: new Blob([`kit of ${String(packed.length)}: ${options?.note ?? ""}`]),
        sha256: kit.sha256,
        madeAt,
        passphrase: resolvePicture(shown).passphrase !== null,
        secretIds: packed.map(({ secretId }) => secretId),
        beside: packed.filter(({ large }) => large).map(({ secretId }) => ({ secretId, name: `${secretId}.age`, file: new Blob(["sealed"]) })),
        left: secrets.filter(({ dropped }) => dropped).map(({ secretId }) => secretId),
        notVerified: packed.filter(({ foreign }) => foreign).map(({ secretId }) => secretId),
      };
    },
    answerDevice: async (device) => {
      enter("answerDevice");
      if (state.status === "unlocked") become({ status: "unlocked", device });
      return Promise.resolve({ remembers: device === "own" && settings.forgets !== true });
    },
    setFavorite: async (secretId, favorite) => {
      enter("setFavorite");
      kept.set(secretId, { ...require(secretId), favorite });
      return Promise.resolve();
    },
    trash: async (secretId) => {
      enter("trash");
      kept.set(secretId, { ...require(secretId), deletedAt: nextTime() });
      return Promise.resolve();
    },
    restore: async (secretId) => {
      enter("restore");
      kept.set(secretId, { ...require(secretId), deletedAt: null });
      return Promise.resolve();
    },
    lock: async () => {
      enter("lock");
      openerShown = false;
      if (state.status === "unlocked") become({ status: "locked" });
      return Promise.resolve();
    },
    autoLock: Object.freeze({
      get: () => minutes,
      set: (next: number) => {
        const { least, most } = autoLockMinutes;
        if (!Number.isInteger(next) || next < least || next > most) throw new PortalError("validation_error", { details: { fields: ["minutes"] } });
        minutes = next;
      },
    }),
    signOut: async () => {
      enter("signOut");
      become({ status: "unknown" });
      gone = true;
      return Promise.resolve();
    },
    acceptOlderState: async () => {
      enter("acceptOlderState");
      return Promise.resolve();
    },
    setDeviceAside: async () => {
      enter("setDeviceAside");
      return Promise.resolve();
    },
    PictureField: FakePictureField,
    forgetShown,
  };
  return Object.freeze(fake);
}

function refuseCancelled(options: CallOptions | undefined): void {
  if (options?.signal?.aborted === true) throw new PortalError("cancelled");
}

function tellSteps(options: CallOptions | undefined): void {
  for (const phase of ["picture", "sealing", "sending"] as const) options?.onProgress?.({ phase, done: 1, total: 1 });
}

function giveInBatches(rows: readonly SecretRow[], batch: number, options: ListOptions | undefined): void {
  for (let from = 0; from < rows.length; from += batch) {
    const part = rows.slice(from, from + batch);
    options?.onRows?.(part, { opened: from + part.length, total: rows.length });
  }
}

function requireVersion({ versions }: Kept, number: number): KeptVersion {
  const version = versions[number - 1];
  if (version === undefined) throw new PortalError("not_found");
  if (version.dropped === true) throw new PortalError("content_gone");
  return version;
}

function newestOf({ versions }: Kept): KeptVersion {
  return versions[versions.length - 1] ?? versions[0];
}

function rowOf(secret: Kept, locked: boolean, openers: readonly string[]): SecretRow {
  const { content, contentKind, name, createdAt } = newestOf(secret);
  const size = bytesOf(content);
  const { secretId, title, tags, favorite, deletedAt, dropped, rev, versions } = secret;
  const label = { title, tags, contentKind, name, size, openers, rehearsedAt: secret.rehearsedAt, kits: secret.kits };
  return { secretId, version: versions.length, rev, favorite, sealedSize: size + 2048, createdAt: versions[0].createdAt, updatedAt: createdAt, deletedAt, droppedAt: dropped ? deletedAt : null, label: locked ? null : label };
}

function recoveredOf(secret: Kept, version: number, wanted: KeptVersion): RecoveredSecret {
  const { secretId, title, tags, large, versions } = secret;
  const { isAway, ...opened } = openedContent({ ...wanted, large });
  return {
    ...opened,
    secretId,
    version,
    title,
    tags,
    current: version === versions.length,
    author: secret.foreign ? "not_verified" : "verified",
    exportAge: async () => {
      if (isAway()) throw new PortalError("vault_locked");
      if (large) throw new PortalError("payload_too_large");
      return Promise.resolve({ sealed: Uint8Array.from(new TextEncoder().encode(wanted.content)), identity: "AGE-SECRET-KEY-PQ-1FAKE", size: opened.size });
    },
  };
}
