import { maxFileNameLength } from "../api/index.ts";
import type { CallOptions, ListOptions, RecoveredSecret, SecretChange, SecretRow, Vault } from "../contract/index.ts";
import { autoLockMinutes } from "../contract/index.ts";
import { PortalError, type ErrorCode } from "../errors/index.ts";
import {
  createFakeAccount,
  isText,
  newestOf,
  newestTime,
  refuseCancelled,
  refuseFields,
  type FakeAccountSettings,
  type KeptSecret,
  type KeptVersion,
} from "./fake-account.ts";
import type { Enter, Failing } from "./fake-call.ts";
import { openedContent } from "./fake-content.ts";
import { createFakeDeviceLinks, type FakeDeviceLinksSettings } from "./fake-device-links.ts";
import { createFakeImports, type FakeImportsSettings } from "./fake-imports.ts";
import { createFakeOpeners } from "./fake-openers.ts";
import { FakePictureField, forgetAllShown, forgetShown, textOf } from "./fake-picture-field.tsx";
import { createFakeRequests, type FakeRequests, type FakeRequestsSettings } from "./fake-requests.ts";
import { createFakeSharing, type FakeSharingSettings } from "./fake-sharing.ts";
import { createFakeStartAnew, type FakeStartAnewSettings } from "./fake-start-anew.ts";
import { createFakeUploads, type FakeUploads, type FakeUploadsSettings } from "./fake-uploads.ts";

export type { FakeImage, FakeSecret } from "./fake-account.ts";
export type { FakeUpload } from "./fake-uploads.ts";

export interface FakeVaultSettings
  extends
    FakeAccountSettings,
    FakeUploadsSettings,
    FakeImportsSettings,
    FakeSharingSettings,
    FakeRequestsSettings,
    FakeDeviceLinksSettings,
    FakeStartAnewSettings {
  /** Rows of one batch of {@link Vault.list}; all in one unless told otherwise. */
  readonly batch?: number;
}

export interface FakeVault extends Vault {
  /** Somebody with the link answers a request of this account. */
  readonly answerElsewhere: FakeRequests["answerElsewhere"];
  /** The device at hand answers what this one offers. */
  readonly admitElsewhere: () => void;
  /** From now on the member rejects so; null ends it. */
  readonly failWith: (member: Failing, code: ErrorCode | null) => void;
  /** Every call by name, in order. */
  readonly calls: readonly string[];
  /** How often listeners are attached now: 0 when every screen cleaned up. */
  readonly listeners: () => number;
  readonly resumedWith: FakeUploads["resumedWith"];
  /** What another device saves meanwhile: content makes a version, a title alone does not. */
  readonly saveElsewhere: (secretId: string, change: { readonly title?: string; readonly content?: string }) => void;
}

/** A picture for tests: its text stands for what is seen on it. */
export function picture(text: string, name = `${text}.jpg`): File {
  return new File([text], name, { type: "image/jpeg" });
}

const [maxKitSecrets, maxKitNoteLength] = [64, 200];
const bytesOf = (text: string) => new TextEncoder().encode(text).length;

/** A well-behaved vault in memory: same members, same errors as the real one, no sealing. */
export function createFakeVault(settings: FakeVaultSettings = {}): FakeVault {
  const account = createFakeAccount(settings);
  const { require, change, openWith, show, requireUnlocked, nextTime, secrets } = account;
  const failures = new Map<string, ErrorCode>();
  const calls: string[] = [];
  let minutes: number = autoLockMinutes.usual;
  let gone = false;

  const enter: Enter = (member, options) => {
    calls.push(member);
    if (gone) throw new PortalError("vault_unavailable");
    refuseCancelled(options);
    const code = failures.get(member);
    if (code !== undefined) throw new PortalError(code);
  };

  async function update(
    secretId: string,
    { baseVersion, baseRev, title, tags, content, protection }: SecretChange,
  ): Promise<number> {
    if (protection?.kind === "picture") account.resolvePicture(protection.shown);
    refuseFields({
      title: !isText(title),
      name: !isText(content?.name, maxFileNameLength),
      protection: content === undefined && protection !== undefined,
    });
    requireUnlocked();
    const secret = require(secretId);
    const base = secret.versions.length;
    if (baseVersion !== base || (baseRev ?? secret.rev) !== secret.rev)
      throw new PortalError("version_conflict", { details: { version: base } });
    if (content === undefined) {
      const named = { title: title ?? secret.title, tags: tags ?? secret.tags };
      if (JSON.stringify(named) !== JSON.stringify({ title: secret.title, tags: secret.tags }))
        change(secretId, { ...named, rev: secret.rev + 1 });
      return base;
    }
    const ids = protection === undefined ? standing(newestOf(secret).openers) : await account.choose(protection);
    return account.addVersion(secretId, { ...content, content: await textOf(content.content) }, ids, { title, tags });
  }

  /** Those that are still openers of the account. */
  function standing(ids: readonly string[]): readonly string[] {
    const left = account.openers.map(({ id }) => id).filter((id) => ids.includes(id));
    if (left.length === 0) throw new PortalError("opener_needed");
    return left;
  }

  /** What an opener opens among these. */
  async function openAll(
    secretIds: readonly string[],
    shown: Parameters<typeof show>[0],
  ): Promise<{
    readonly opened: readonly KeptSecret[];
    readonly left: readonly string[];
    readonly passphrase: boolean;
  }> {
    account.resolve(shown);
    if (account.getState().status === "unlocked") secretIds.forEach(require);
    const { id, passphrase } = await show(shown);
    const opened = secretIds.map(require).filter((secret) => !secret.dropped && newestOf(secret).openers.includes(id));
    if (opened.length === 0) throw new PortalError("opener_needed");
    return {
      opened,
      left: secretIds.filter((secretId) => !opened.some((secret) => secret.secretId === secretId)),
      passphrase: passphrase !== null,
    };
  }

  const sharing = createFakeSharing(settings, account, enter);
  const requests = createFakeRequests(settings, account, enter);
  const { resumedWith, ...uploads } = createFakeUploads(settings, account, enter);

  const fake: FakeVault = {
    ...sharing.members,
    requests: requests.requests,
    answerElsewhere: requests.answerElsewhere,
    ...createFakeDeviceLinks(settings, account, enter),
    imports: createFakeImports(settings, account, enter),
    openers: createFakeOpeners(account, enter, { endShares: sharing.end, revokeRequests: requests.revokeWaiting }),
    startAnew: createFakeStartAnew(settings, account, enter, () => {
      sharing.forget();
      requests.forget();
    }),
    ...uploads,
    calls,
    resumedWith,
    listeners: () => account.listeners.size,
    failWith: (member, code) => {
      if (code === null) failures.delete(member);
      else failures.set(member, code);
    },
    saveElsewhere: (secretId, { title, content }) => {
      const secret = require(secretId);
      const newest = newestOf(secret);
      if (content === undefined) change(secretId, { title: title ?? secret.title, rev: secret.rev + 1 });
      else account.addVersion(secretId, { ...newest, content }, newest.openers, { title });
    },

    getState: account.getState,
    subscribe: (listener) => {
      account.listeners.add(listener);
      return () => account.listeners.delete(listener);
    },
    refresh: async () => {
      enter("refresh");
      return Promise.resolve(account.getState());
    },
    list: async (options) => {
      enter("list", options);
      const isLocked = account.getState().status !== "unlocked";
      const rows = [...secrets.values()].map((secret) => rowOf(secret, isLocked));
      giveInBatches(rows.toReversed(), settings.batch ?? rows.length, options);
      return Promise.resolve(rows);
    },
    images: async () => {
      enter("images");
      const images = account.openers.filter(({ kind }) => kind === "image");
      return Promise.resolve(
        account.getState().status === "unlocked"
          ? images.map(({ id, name, createdAt }) => ({ id, name, createdAt }))
          : [],
      );
    },
    protect: async (request, options) => {
      const { protection, title, name, content } = request;
      if (protection.kind === "picture") account.resolvePicture(protection.shown);
      enter("protect", options);
      refuseFields({ title: !isText(title), name: !isText(name, maxFileNameLength) });
      if (account.getState().status === "locked") throw new PortalError("vault_locked");
      const ids = await account.choose(protection);
      tellSteps(options);
      refuseCancelled(options);
      const secretId = account.addSecret({ ...request, content: await textOf(content) }, ids);
      if (account.getState().status === "empty") account.unlock();
      return { secretId, version: 1 };
    },
    update: async (secretId, given, options) => {
      enter("update", options);
      tellSteps(options);
      return { version: await update(secretId, given) };
    },
    history: async (secretId, options) => {
      enter("history", options);
      const { versions } = require(secretId);
      const described = versions.map(({ content, createdAt, dropped }, index) => ({
        version: index + 1,
        createdAt,
        sealedSize: bytesOf(content) + 2048,
        current: index + 1 === versions.length,
        dropped,
      }));
      return Promise.resolve(described.toReversed());
    },
    restoreVersion: async (secretId, number, shown, options) => {
      enter("restoreVersion", options);
      const { secret, version } = await openWith(secretId, shown, number);
      tellSteps(options);
      if (number === secret.versions.length) return { version: number };
      return { version: account.addVersion(secretId, version, standing(newestOf(secret).openers)) };
    },
    removeVersions: async (secretId, numbers, options) => {
      enter("removeVersions", options);
      if (numbers.length === 0) return Promise.resolve();
      requireUnlocked();
      const { versions } = require(secretId);
      if (numbers.some((version) => version < 1 || version >= versions.length)) throw new PortalError("not_found");
      const [first, ...rest] = versions.map((version, index) =>
        numbers.includes(index + 1) ? { ...version, dropped: true } : version,
      );
      if (first !== undefined) change(secretId, { versions: [first, ...rest] });
      sharing.end((share) => share.secretId === secretId && numbers.includes(share.version));
      return Promise.resolve();
    },
    purge: async (secretIds, options) => {
      enter("purge", options);
      if (secretIds.length === 0) return Promise.resolve();
      requireUnlocked();
      if (secretIds.map(require).some(({ deletedAt }) => deletedAt === null)) throw new PortalError("not_in_trash");
      for (const secretId of secretIds) secrets.delete(secretId);
      sharing.end((share) => secretIds.includes(share.secretId));
      return Promise.resolve();
    },
    unlock: async (shown, options) => {
      enter("unlock", options);
      await show(shown);
    },
    unlockByPresence: async () => {
      enter("unlockByPresence");
      account.unlockByPresence();
      return Promise.resolve();
    },
    recover: async (secretId, shown, options) => {
      enter("recover", options);
      const { secret, version } = await openWith(secretId, shown, options?.version);
      for (const phase of ["fetching", "opening"] as const) options?.onProgress?.({ phase, done: 1, total: 1 });
      const locks = account.locks();
      return recoveredOf(secret, version, options?.version, () => account.locks() > locks);
    },
    rehearse: async (secretId, shown, options) => {
      enter("rehearse", options);
      const { secret, opener } = await openWith(secretId, shown);
      const rehearsedAt = nextTime();
      change(secretId, { rev: secret.rev + 1, rehearsed: new Map(secret.rehearsed).set(opener.id, rehearsedAt) });
      return { rehearsedAt };
    },
    exportSecrets: async (secretIds, shown, options) => {
      enter("exportSecrets", options);
      const { opened, left } = await openAll(secretIds, shown);
      options?.onProgress?.({ phase: "fetching", done: 1, total: 1 });
      return {
        identity: "AGE-SECRET-KEY-PQ-1FAKE",
        archive: new Blob([`archive of ${String(opened.length)}`]),
        exported: opened.length,
        left,
        notVerified: foreignAmong(opened),
      };
    },
    makeKit: async (secretIds, shown, options) => {
      enter("makeKit", options);
      account.resolvePicture(shown);
      const note = options?.note ?? "";
      refuseFields({ secrets: secretIds.length > maxKitSecrets, note: note.length > maxKitNoteLength });
      const { opened, left, passphrase } = await openAll(secretIds, shown);
      options?.onProgress?.({ phase: "fetching", done: 1, total: 1 });
      const madeAt = nextTime();
      const file = `kit of ${String(opened.length)}: ${note}`;
      const kit = { sha256: await hexDigest(file), madeAt, outdated: false };
      for (const { secretId, rev, kits } of opened) change(secretId, { rev: rev + 1, kits: [...kits, kit] });
      return {
        name: `kit-${madeAt.slice(0, 10)}.html`,
        file: new Blob([file]),
        sha256: kit.sha256,
        madeAt,
        passphrase,
        secretIds: opened.map(({ secretId }) => secretId),
        beside: opened
          .filter((secret) => newestOf(secret).large)
          .map(({ secretId }) => ({ secretId, name: `${secretId}.age`, file: new Blob(["sealed"]) })),
        left,
        notVerified: foreignAmong(opened),
      };
    },
    answerDevice: async (device) => {
      enter("answerDevice");
      return Promise.resolve({ remembers: account.answerDevice(device) });
    },
    setFavorite: async (secretId, favorite) => {
      enter("setFavorite");
      change(secretId, { favorite });
      return Promise.resolve();
    },
    trash: async (secretId) => {
      enter("trash");
      change(secretId, { deletedAt: require(secretId).deletedAt ?? nextTime() });
      sharing.end((share) => share.secretId === secretId);
      return Promise.resolve();
    },
    restore: async (secretId) => {
      enter("restore");
      change(secretId, { deletedAt: null });
      return Promise.resolve();
    },
    lock: async () => {
      enter("lock");
      account.lock();
      return Promise.resolve();
    },
    autoLock: Object.freeze({
      get: () => minutes,
      set: (next: number) => {
        const { least, most } = autoLockMinutes;
        refuseFields({ minutes: !Number.isInteger(next) || next < least || next > most });
        minutes = next;
      },
    }),
    signOut: async () => {
      enter("signOut");
      forgetAllShown();
      account.become({ status: "unknown" });
      gone = true;
      return Promise.resolve();
    },
    acceptOlderState: async () => {
      enter("acceptOlderState");
      return Promise.resolve();
    },
    setDeviceAside: async () => {
      enter("setDeviceAside");
      account.setDeviceAside();
      return Promise.resolve();
    },
    PictureField: FakePictureField,
    forgetShown,
  };
  return Object.freeze(fake);
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

function foreignAmong(secrets: readonly KeptSecret[]): string[] {
  return secrets.filter(({ foreign }) => foreign).map(({ secretId }) => secretId);
}

function rowOf(secret: KeptSecret, isLocked: boolean): SecretRow {
  const { content, contentKind, name, createdAt, openers } = newestOf(secret);
  const size = bytesOf(content);
  const { secretId, title, tags, favorite, deletedAt, dropped, rev, versions, kits } = secret;
  const label = { title, tags, contentKind, name, size, openers, rehearsedAt: newestTime(secret), kits };
  return {
    secretId,
    version: versions.length,
    rev,
    favorite,
    sealedSize: size + 2048,
    createdAt: versions[0].createdAt,
    updatedAt: createdAt,
    deletedAt,
    droppedAt: dropped ? deletedAt : null,
    label: isLocked ? null : label,
  };
}

function recoveredOf(
  secret: KeptSecret,
  version: KeptVersion,
  number = secret.versions.length,
  isLocked: () => boolean,
): RecoveredSecret {
  const current = number === secret.versions.length;
  const { isAway, ...opened } = openedContent(version, isLocked);
  const { title, tags } = current ? secret : version;
  return {
    ...opened,
    secretId: secret.secretId,
    version: number,
    title,
    tags,
    current,
    author: secret.foreign ? "not_verified" : "verified",
    exportAge: async () => {
      if (isAway()) throw new PortalError("vault_locked");
      if (version.large) throw new PortalError("payload_too_large");
      return Promise.resolve({
        sealed: Uint8Array.from(new TextEncoder().encode(version.content)),
        identity: "AGE-SECRET-KEY-PQ-1FAKE",
        size: opened.size,
      });
    },
  };
}

async function hexDigest(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
