import { maxFileNameLength } from "../api/index.ts";
import type { CallOptions, ListOptions, OpenedSecret, SecretChange, SecretRow, Vault } from "../contract/index.ts";
import { autoLockMinutes } from "../contract/index.ts";
import { PortalError, type ErrorCode } from "../errors/index.ts";
import {
  createFakeAccount,
  isValidText,
  getNewestVersion,
  getLastCopyCheck,
  throwIfCancelled,
  throwIfInvalid,
  type FakeAccountSettings,
  type InMemorySecret,
  type InMemoryVersion,
} from "./fake-account.ts";
import type { RecordCall, FailableMember } from "./fake-call.ts";
import { createOpenedContent } from "./fake-content.ts";
import { createFakeDeviceLinks, type FakeDeviceLinksSettings } from "./fake-device-links.ts";
import { createFakeImports, type FakeImportsSettings } from "./fake-imports.ts";
import { createFakeOpeners } from "./fake-openers.ts";
import { FakePictureField, releaseAllOpeners, releaseOpener, readBlobText } from "./fake-picture-field.tsx";
import { createFakeRequests, type FakeRequests, type FakeRequestsSettings } from "./fake-requests.ts";
import { createFakeSharing, type FakeSharingSettings } from "./fake-sharing.ts";
import { createFakeAccountReset, type FakeAccountResetSettings } from "./fake-account-reset.ts";
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
    FakeAccountResetSettings {
  /** Rows of one batch of {@link Vault.list}; all in one unless told otherwise. */
  readonly batchSize?: number;
}

export interface FakeVault extends Vault {
  /** Somebody with the link answers a request of this account. */
  readonly answerElsewhere: FakeRequests["answerElsewhere"];
  /** The device at hand answers what this one offers. */
  readonly approveElsewhere: () => void;
  /** From now on the member rejects so; null ends it. */
  readonly failWith: (member: FailableMember, code: ErrorCode | null) => void;
  /** Every call by name, in order. */
  readonly calls: readonly string[];
  /** How often listeners are attached now: 0 when every screen cleaned up. */
  readonly listeners: () => number;
  readonly resumedWith: FakeUploads["resumedPictures"];
  /** What another device saves meanwhile: content makes a version, a title alone does not. */
  readonly saveElsewhere: (secretId: string, change: { readonly title?: string; readonly content?: string }) => void;
}

/** A picture for tests: its text stands for what is seen on it. */
export function createPictureFile(text: string, name = `${text}.jpg`): File {
  return new File([text], name, { type: "image/jpeg" });
}

const [maxKitSecrets, maxKitNoteLength] = [64, 200];
const countBytes = (text: string) => new TextEncoder().encode(text).length;

/** A well-behaved vault in memory: same members, same errors as the real one, no sealing. */
export function createFakeVault(settings: FakeVaultSettings = {}): FakeVault {
  const account = createFakeAccount(settings);
  const { require, change, openWith, show, requireUnlocked, nextTime, secrets } = account;
  const failures = new Map<string, ErrorCode>();
  const calls: string[] = [];
  let minutes: number = autoLockMinutes.default;
  let isSignedOut = false;

  const recordCall: RecordCall = (member, options) => {
    calls.push(member);
    if (isSignedOut) throw new PortalError("vault_unavailable");
    throwIfCancelled(options);
    const code = failures.get(member);
    if (code !== undefined) throw new PortalError(code);
  };

  async function update(
    secretId: string,
    { baseVersion, baseRev, title, tags, content, protection }: SecretChange,
  ): Promise<number> {
    if (protection?.kind === "picture") account.resolvePicture(protection.picture);
    throwIfInvalid({
      title: !isValidText(title),
      name: !isValidText(content?.name, maxFileNameLength),
      protection: content === undefined && protection !== undefined,
    });
    requireUnlocked();
    const secret = require(secretId);
    const currentVersion = secret.versions.length;
    if (baseVersion !== currentVersion || (baseRev ?? secret.rev) !== secret.rev)
      throw new PortalError("version_conflict", { details: { version: currentVersion } });
    if (content === undefined) {
      const metadata = { title: title ?? secret.title, tags: tags ?? secret.tags };
      if (JSON.stringify(metadata) !== JSON.stringify({ title: secret.title, tags: secret.tags }))
        change(secretId, { ...metadata, rev: secret.rev + 1 });
      return currentVersion;
    }
    const openerIds =
      protection === undefined
        ? filterCurrentOpeners(getNewestVersion(secret).openers)
        : await account.choose(protection);
    return account.addVersion(secretId, { ...content, content: await readBlobText(content.content) }, openerIds, {
      title,
      tags,
    });
  }

  /** Those that are still openers of the account. */
  function filterCurrentOpeners(ids: readonly string[]): readonly string[] {
    const remaining = account.openers.map(({ id }) => id).filter((id) => ids.includes(id));
    if (remaining.length === 0) throw new PortalError("opener_needed");
    return remaining;
  }

  /** What an opener opens among these. */
  async function openSecrets(
    secretIds: readonly string[],
    handle: Parameters<typeof show>[0],
  ): Promise<{
    readonly opened: readonly InMemorySecret[];
    readonly skipped: readonly string[];
    readonly hasPassphrase: boolean;
  }> {
    account.resolve(handle);
    if (account.getState().status === "unlocked") secretIds.forEach(require);
    const { id, passphrase } = await show(handle);
    const opened = secretIds
      .map(require)
      .filter((secret) => !secret.dropped && getNewestVersion(secret).openers.includes(id));
    if (opened.length === 0) throw new PortalError("opener_needed");
    return {
      opened,
      skipped: secretIds.filter((secretId) => !opened.some((secret) => secret.secretId === secretId)),
      hasPassphrase: passphrase !== null,
    };
  }

  const sharing = createFakeSharing(settings, account, recordCall);
  const requests = createFakeRequests(settings, account, recordCall);
  const { resumedPictures, ...uploads } = createFakeUploads(settings, account, recordCall);

  const fake: FakeVault = {
    ...sharing.members,
    requests: requests.requests,
    answerElsewhere: requests.answerElsewhere,
    ...createFakeDeviceLinks(settings, account, recordCall),
    imports: createFakeImports(settings, account, recordCall),
    openers: createFakeOpeners(account, recordCall, {
      endShares: sharing.endShares,
      revokeRequests: requests.revokeOpen,
    }),
    accountReset: createFakeAccountReset(settings, account, recordCall, () => {
      sharing.clear();
      requests.clear();
    }),
    ...uploads,
    calls,
    resumedWith: resumedPictures,
    listeners: () => account.listeners.size,
    failWith: (member, code) => {
      if (code === null) failures.delete(member);
      else failures.set(member, code);
    },
    saveElsewhere: (secretId, { title, content }) => {
      const secret = require(secretId);
      const newest = getNewestVersion(secret);
      if (content === undefined) change(secretId, { title: title ?? secret.title, rev: secret.rev + 1 });
      else account.addVersion(secretId, { ...newest, content }, newest.openers, { title });
    },

    getState: account.getState,
    subscribe: (listener) => {
      account.listeners.add(listener);
      return () => account.listeners.delete(listener);
    },
    refresh: async () => {
      recordCall("refresh");
      return Promise.resolve(account.getState());
    },
    list: async (options) => {
      recordCall("list", options);
      const isLocked = account.getState().status !== "unlocked";
      const rows = [...secrets.values()].map((secret) => toRow(secret, isLocked));
      emitBatches(rows.toReversed(), settings.batchSize ?? rows.length, options);
      return Promise.resolve(rows);
    },
    listImages: async () => {
      recordCall("listImages");
      const images = account.openers.filter(({ kind }) => kind === "image");
      return Promise.resolve(
        account.getState().status === "unlocked"
          ? images.map(({ id, name, createdAt }) => ({ id, name, createdAt }))
          : [],
      );
    },
    protect: async (request, options) => {
      const { protection, title, name, content } = request;
      if (protection.kind === "picture") account.resolvePicture(protection.picture);
      recordCall("protect", options);
      throwIfInvalid({ title: !isValidText(title), name: !isValidText(name, maxFileNameLength) });
      if (account.getState().status === "locked") throw new PortalError("vault_locked");
      const openerIds = await account.choose(protection);
      reportSteps(options);
      throwIfCancelled(options);
      const secretId = account.addSecret({ ...request, content: await readBlobText(content) }, openerIds);
      if (account.getState().status === "empty") account.unlock();
      return { secretId, version: 1 };
    },
    update: async (secretId, change, options) => {
      recordCall("update", options);
      reportSteps(options);
      return { version: await update(secretId, change) };
    },
    listVersions: async (secretId, options) => {
      recordCall("listVersions", options);
      const { versions } = require(secretId);
      const records = versions.map(({ content, createdAt, dropped }, index) => ({
        version: index + 1,
        createdAt,
        sealedSize: countBytes(content) + 2048,
        current: index + 1 === versions.length,
        dropped,
      }));
      return Promise.resolve(records.toReversed());
    },
    restoreVersion: async (secretId, number, handle, options) => {
      recordCall("restoreVersion", options);
      const { secret, version } = await openWith(secretId, handle, number);
      reportSteps(options);
      if (number === secret.versions.length) return { version: number };
      return { version: account.addVersion(secretId, version, filterCurrentOpeners(getNewestVersion(secret).openers)) };
    },
    removeVersions: async (secretId, numbers, options) => {
      recordCall("removeVersions", options);
      if (numbers.length === 0) return Promise.resolve();
      requireUnlocked();
      const { versions } = require(secretId);
      if (numbers.some((version) => version < 1 || version >= versions.length)) throw new PortalError("not_found");
      const [first, ...rest] = versions.map((version, index) =>
        numbers.includes(index + 1) ? { ...version, dropped: true } : version,
      );
      if (first !== undefined) change(secretId, { versions: [first, ...rest] });
      sharing.endShares((share) => share.secretId === secretId && numbers.includes(share.version));
      return Promise.resolve();
    },
    purge: async (secretIds, options) => {
      recordCall("purge", options);
      if (secretIds.length === 0) return Promise.resolve();
      requireUnlocked();
      if (secretIds.map(require).some(({ deletedAt }) => deletedAt === null)) throw new PortalError("not_in_trash");
      for (const secretId of secretIds) secrets.delete(secretId);
      sharing.endShares((share) => secretIds.includes(share.secretId));
      return Promise.resolve();
    },
    unlock: async (handle, options) => {
      recordCall("unlock", options);
      await show(handle);
    },
    unlockBySignIn: async () => {
      recordCall("unlockBySignIn");
      account.unlockBySignIn();
      return Promise.resolve();
    },
    openSecret: async (secretId, handle, options) => {
      recordCall("openSecret", options);
      const { secret, version } = await openWith(secretId, handle, options?.version);
      for (const phase of ["fetching", "opening"] as const) options?.onProgress?.({ phase, done: 1, total: 1 });
      const lockCount = account.getLockCount();
      return createOpenedSecret(secret, version, options?.version, () => account.getLockCount() > lockCount);
    },
    checkCopy: async (secretId, handle, options) => {
      recordCall("checkCopy", options);
      const { secret, opener } = await openWith(secretId, handle);
      const copyCheckedAt = nextTime();
      change(secretId, { rev: secret.rev + 1, copyChecks: new Map(secret.copyChecks).set(opener.id, copyCheckedAt) });
      return { copyCheckedAt };
    },
    exportSecrets: async (secretIds, handle, options) => {
      recordCall("exportSecrets", options);
      const { opened, skipped } = await openSecrets(secretIds, handle);
      options?.onProgress?.({ phase: "fetching", done: 1, total: 1 });
      return {
        identity: "AGE-SECRET-KEY-PQ-1FAKE",
        archive: new Blob([`archive of ${String(opened.length)}`]),
        exported: opened.length,
        skipped,
        notVerified: listForeign(opened),
      };
    },
    createKit: async (secretIds, handle, options) => {
      recordCall("createKit", options);
      account.resolvePicture(handle);
      const note = options?.note ?? "";
      throwIfInvalid({ secrets: secretIds.length > maxKitSecrets, note: note.length > maxKitNoteLength });
      const { opened, skipped, hasPassphrase } = await openSecrets(secretIds, handle);
      options?.onProgress?.({ phase: "fetching", done: 1, total: 1 });
      const createdAt = nextTime();
      const file = `kit of ${String(opened.length)}: ${note}`;
      const kit = { sha256: await computeHexDigest(file), createdAt, outdated: false };
      for (const { secretId, rev, kits } of opened) change(secretId, { rev: rev + 1, kits: [...kits, kit] });
      return {
        name: `kit-${createdAt.slice(0, 10)}.html`,
        file: new Blob([file]),
        sha256: kit.sha256,
        createdAt,
        hasPassphrase,
        secretIds: opened.map(({ secretId }) => secretId),
        attachments: opened
          .filter((secret) => getNewestVersion(secret).large)
          .map(({ secretId }) => ({ secretId, name: `${secretId}.age`, file: new Blob(["sealed"]) })),
        skipped,
        notVerified: listForeign(opened),
      };
    },
    setDeviceKind: async (device) => {
      recordCall("setDeviceKind");
      return Promise.resolve({ keysSaved: account.setDeviceKind(device) });
    },
    setFavorite: async (secretId, favorite) => {
      recordCall("setFavorite");
      change(secretId, { favorite });
      return Promise.resolve();
    },
    trash: async (secretId) => {
      recordCall("trash");
      change(secretId, { deletedAt: require(secretId).deletedAt ?? nextTime() });
      sharing.endShares((share) => share.secretId === secretId);
      return Promise.resolve();
    },
    restore: async (secretId) => {
      recordCall("restore");
      change(secretId, { deletedAt: null });
      return Promise.resolve();
    },
    lock: async () => {
      recordCall("lock");
      account.lock();
      return Promise.resolve();
    },
    autoLock: Object.freeze({
      get: () => minutes,
      set: (next: number) => {
        const { minimum, maximum } = autoLockMinutes;
        throwIfInvalid({ minutes: !Number.isInteger(next) || next < minimum || next > maximum });
        minutes = next;
      },
    }),
    signOut: async () => {
      recordCall("signOut");
      releaseAllOpeners();
      account.become({ status: "unknown" });
      isSignedOut = true;
      return Promise.resolve();
    },
    acceptOlderState: async () => {
      recordCall("acceptOlderState");
      return Promise.resolve();
    },
    archiveDeviceRecord: async () => {
      recordCall("archiveDeviceRecord");
      account.archiveDeviceRecord();
      return Promise.resolve();
    },
    PictureField: FakePictureField,
    releaseOpener,
  };
  return Object.freeze(fake);
}

function reportSteps(options: CallOptions | undefined): void {
  for (const phase of ["picture", "sealing", "sending"] as const) options?.onProgress?.({ phase, done: 1, total: 1 });
}

function emitBatches(rows: readonly SecretRow[], batchSize: number, options: ListOptions | undefined): void {
  for (let start = 0; start < rows.length; start += batchSize) {
    const chunk = rows.slice(start, start + batchSize);
    options?.onRows?.(chunk, { opened: start + chunk.length, total: rows.length });
  }
}

function listForeign(secrets: readonly InMemorySecret[]): string[] {
  return secrets.filter(({ foreign }) => foreign).map(({ secretId }) => secretId);
}

function toRow(secret: InMemorySecret, isLocked: boolean): SecretRow {
  const { content, contentKind, name, createdAt, openers } = getNewestVersion(secret);
  const size = countBytes(content);
  const { secretId, title, tags, favorite, deletedAt, dropped, rev, versions, kits } = secret;
  const label = { title, tags, contentKind, name, size, openers, copyCheckedAt: getLastCopyCheck(secret), kits };
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

function createOpenedSecret(
  secret: InMemorySecret,
  version: InMemoryVersion,
  number = secret.versions.length,
  isLocked: () => boolean,
): OpenedSecret {
  const current = number === secret.versions.length;
  const { isDisposed, ...opened } = createOpenedContent(version, isLocked);
  const { title, tags } = current ? secret : version;
  return {
    ...opened,
    secretId: secret.secretId,
    version: number,
    title,
    tags,
    current,
    author: secret.foreign ? "not_verified" : "verified",
    exportAgeFile: async () => {
      if (isDisposed()) throw new PortalError("vault_locked");
      if (version.large) throw new PortalError("payload_too_large");
      return Promise.resolve({
        sealed: Uint8Array.from(new TextEncoder().encode(version.content)),
        identity: "AGE-SECRET-KEY-PQ-1FAKE",
        size: opened.size,
      });
    },
  };
}

async function computeHexDigest(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
