import { maxFileNameLength } from "../api/index.ts";
import type {
  CallOptions,
  ListOptions,
  NewSecretInput,
  OpenedSecret,
  RecoveryCode,
  SecretChange,
  SecretRow,
  Vault,
} from "../contract/index.ts";
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
import { createOpenedContent, readOpened } from "./fake-content.tsx";
import { createFakeDeviceLinks, type FakeDeviceLinksSettings } from "./fake-device-links.ts";
import { createFakeImports, type FakeImportsSettings } from "./fake-imports.ts";
import { createFakeOpeners } from "./fake-openers.ts";
import { FakePictureField, releaseAllOpeners, releaseOpener, readBlobText } from "./fake-picture-field.tsx";
import { createFakeRequests, type FakeRequests, type FakeRequestsSettings } from "./fake-requests.ts";
import { createFakeSharing, type FakeSharingSettings } from "./fake-sharing.ts";
import { createFakeAccountReset, type FakeAccountResetSettings } from "./fake-account-reset.ts";
import { createWords } from "./fake-words.ts";
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
  /** Rows in each batch of {@link Vault.list}. By default all rows are in one batch. */
  readonly batchSize?: number;
}

export interface FakeVault extends Vault {
  /** Answers a request of this account, as a person who has the link. */
  readonly answerElsewhere: FakeRequests["answerElsewhere"];
  /** Approves this device's offer, as another device. */
  readonly approveElsewhere: () => void;
  /** Creates a code for the vault's own element. */
  readonly generateRecoveryCode: () => Promise<RecoveryCode>;
  /** Makes the member reject with the code. Null ends the failures. */
  readonly failWith: (member: FailableMember, code: ErrorCode | null) => void;
  /** Names of all calls, in order. */
  readonly calls: readonly string[];
  /** Returns the number of attached listeners, which is 0 when every screen cleaned up. */
  readonly countListeners: () => number;
  readonly resumedPictures: FakeUploads["resumedPictures"];
  /**
   * Saves as another device does. A content creates a version; a title without content does not.
   */
  readonly saveElsewhere: (secretId: string, change: { readonly title?: string; readonly content?: string }) => void;
}

/** Creates a picture for tests. Its text represents what the picture shows. */
export function createPictureFile(text: string, name = `${text}.jpg`): File {
  return new File([text], name, { type: "image/jpeg" });
}

const [maxKitSecrets, maxKitNoteLength] = [64, 200];
const fakeHistoryLength = 12;
const countBytes = (text: string) => new TextEncoder().encode(text).length;

/** Creates a vault in memory, with the members and errors of the real one. It seals nothing. */
export function createFakeVault(settings: FakeVaultSettings = {}): FakeVault {
  const account = createFakeAccount(settings);
  const { requireSecret, updateSecret, openWith, presentHandle, requireUnlocked, nextTime, secrets } = account;
  const failures = new Map<string, ErrorCode>();
  const calls: string[] = [];
  let minutes: number = autoLockMinutes.default;
  let isSignedOut = false;
  let codeCount = 0;

  const recordCall: RecordCall = (member, options) => {
    calls.push(member);
    if (isSignedOut) throw new PortalError("vault_unavailable");
    throwIfCancelled(options);
    const code = failures.get(member);
    if (code !== undefined) throw new PortalError(code);
  };

  async function protect(
    request: Omit<NewSecretInput, "content"> & { readonly content: string },
    options: CallOptions | undefined,
  ) {
    const { protection, title, name } = request;
    throwIfInvalid({ title: !isValidText(title), name: !isValidText(name, maxFileNameLength) });
    if (account.getState().status === "locked") throw new PortalError("vault_locked");
    const openerIds = await account.resolveProtection(protection);
    reportSteps(options);
    throwIfCancelled(options);
    const secretId = account.addSecret(request, openerIds);
    if (account.getState().status === "empty") account.unlock();
    return { secretId, version: 1 };
  }

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
    const secret = requireSecret(secretId);
    const currentVersion = secret.versions.length;
    if (baseVersion !== currentVersion || (baseRev ?? secret.rev) !== secret.rev)
      throw new PortalError("version_conflict", { details: { version: currentVersion } });
    if (content === undefined) {
      const metadata = { title: title ?? secret.title, tags: tags ?? secret.tags };
      if (JSON.stringify(metadata) !== JSON.stringify({ title: secret.title, tags: secret.tags }))
        updateSecret(secretId, { ...metadata, rev: secret.rev + 1 });
      return currentVersion;
    }
    account.requireAuthor();
    const openerIds =
      protection === undefined
        ? filterCurrentOpeners(getNewestVersion(secret).openers)
        : await account.resolveProtection(protection);
    return account.addVersion(secretId, { ...content, content: await readBlobText(content.content) }, openerIds, {
      title,
      tags,
    });
  }

  function filterCurrentOpeners(ids: readonly string[]): readonly string[] {
    const remainingIds = account.openers.map(({ id }) => id).filter((id) => ids.includes(id));
    if (remainingIds.length === 0) throw new PortalError("opener_needed");
    return remainingIds;
  }

  /** Separates the secrets that an opener opens from those that it does not open. */
  async function openSecrets(
    secretIds: readonly string[],
    handle: Parameters<typeof presentHandle>[0],
  ): Promise<{
    readonly openedSecrets: readonly InMemorySecret[];
    readonly skippedSecretIds: readonly string[];
    readonly hasPassphrase: boolean;
  }> {
    account.resolve(handle);
    if (account.getState().status === "unlocked") secretIds.forEach(requireSecret);
    const { id, passphrase } = await presentHandle(handle);
    const openedSecrets = secretIds
      .map(requireSecret)
      .filter((secret) => !secret.dropped && getNewestVersion(secret).openers.includes(id));
    if (openedSecrets.length === 0) throw new PortalError("opener_needed");
    return {
      openedSecrets,
      skippedSecretIds: secretIds.filter((secretId) => !openedSecrets.some((secret) => secret.secretId === secretId)),
      hasPassphrase: passphrase !== null,
    };
  }

  const sharing = createFakeSharing(settings, account, recordCall);
  const requests = createFakeRequests(settings, account, recordCall);
  const { resumedPictures, ...uploads } = createFakeUploads(settings, account, recordCall);

  const fakeVault: FakeVault = {
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
    resumedPictures,
    countListeners: () => account.listeners.size,
    failWith: (member, code) => {
      if (code === null) failures.delete(member);
      else failures.set(member, code);
    },
    saveElsewhere: (secretId, { title, content }) => {
      const secret = requireSecret(secretId);
      const newest = getNewestVersion(secret);
      if (content === undefined) updateSecret(secretId, { title: title ?? secret.title, rev: secret.rev + 1 });
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
      if (request.protection.kind === "picture") account.resolvePicture(request.protection.picture);
      recordCall("protect", options);
      return protect({ ...request, content: await readBlobText(request.content) }, options);
    },
    protectOpened: async (opened, { title, tags, protection }, options) => {
      if (protection.kind === "picture") account.resolvePicture(protection.picture);
      recordCall("protectOpened", options);
      return protect({ title, tags, protection, ...readOpened(opened) }, options);
    },
    update: async (secretId, change, options) => {
      recordCall("update", options);
      reportSteps(options);
      return { version: await update(secretId, change) };
    },
    listVersions: async (secretId, options) => {
      recordCall("listVersions", options);
      const { versions } = requireSecret(secretId);
      const records = versions.map(({ content, createdAt, dropped }, index) => ({
        version: index + 1,
        createdAt,
        sealedSize: countBytes(content) + 2048,
        current: index + 1 === versions.length,
        dropped,
      }));
      return Promise.resolve(records.toReversed());
    },
    restoreVersion: async (secretId, versionNumber, handle, options) => {
      recordCall("restoreVersion", options);
      const { secret, version } = await openWith(secretId, handle, versionNumber);
      reportSteps(options);
      if (versionNumber === secret.versions.length) return { version: versionNumber };
      return { version: account.addVersion(secretId, version, filterCurrentOpeners(getNewestVersion(secret).openers)) };
    },
    getHistory: async (stateRev, options) => {
      recordCall("getHistory", options);
      requireUnlocked();
      if (stateRev !== null && stateRev > fakeHistoryLength) throw new PortalError("not_found");
      const shownRev = stateRev ?? fakeHistoryLength;
      return Promise.resolve({ stateRev: shownRev, words: createWords(shownRev).slice(0, 8) });
    },
    removeVersions: async (secretId, versionNumbers, options) => {
      recordCall("removeVersions", options);
      if (versionNumbers.length === 0) return Promise.resolve();
      account.requireAuthor();
      const { versions } = requireSecret(secretId);
      if (versionNumbers.some((version) => version < 1 || version >= versions.length))
        throw new PortalError("not_found");
      const [first, ...rest] = versions.map((version, index) =>
        versionNumbers.includes(index + 1) ? { ...version, dropped: true } : version,
      );
      if (first !== undefined) updateSecret(secretId, { versions: [first, ...rest] });
      sharing.endShares((share) => share.secretId === secretId && versionNumbers.includes(share.version));
      return Promise.resolve();
    },
    purge: async (secretIds, options) => {
      recordCall("purge", options);
      if (secretIds.length === 0) return Promise.resolve();
      account.requireAuthor();
      if (secretIds.map(requireSecret).some(({ deletedAt }) => deletedAt === null))
        throw new PortalError("not_in_trash");
      for (const secretId of secretIds) secrets.delete(secretId);
      sharing.endShares((share) => secretIds.includes(share.secretId));
      return Promise.resolve();
    },
    unlock: async (handle, options) => {
      recordCall("unlock", options);
      await presentHandle(handle);
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
    openText: async (secretId, handle, options) => {
      recordCall("openText", options);
      const { contentKind, content, large } = (await openWith(secretId, handle)).version;
      if (contentKind === "file" || large) throw new PortalError("payload_too_large");
      return content;
    },
    checkCopy: async (secretId, handle, options) => {
      recordCall("checkCopy", options);
      const { secret, opener } = await openWith(secretId, handle);
      const copyCheckedAt = nextTime();
      updateSecret(secretId, {
        rev: secret.rev + 1,
        copyChecks: new Map(secret.copyChecks).set(opener.id, copyCheckedAt),
      });
      return { copyCheckedAt };
    },
    exportSecrets: async (secretIds, handle, options) => {
      recordCall("exportSecrets", options);
      const { openedSecrets, skippedSecretIds } = await openSecrets(secretIds, handle);
      options?.onProgress?.({ phase: "fetching", done: 1, total: 1 });
      return {
        identity: "AGE-SECRET-KEY-PQ-1FAKE",
        archive: new Blob([`archive of ${String(openedSecrets.length)}`]),
        exportedCount: openedSecrets.length,
        skippedIds: skippedSecretIds,
        unverifiedIds: listForeign(openedSecrets),
      };
    },
    createKit: async (secretIds, handle, options) => {
      recordCall("createKit", options);
      account.resolvePicture(handle);
      const note = options?.note ?? "";
      throwIfInvalid({ secrets: secretIds.length > maxKitSecrets, note: note.length > maxKitNoteLength });
      const { openedSecrets, skippedSecretIds, hasPassphrase } = await openSecrets(secretIds, handle);
      options?.onProgress?.({ phase: "fetching", done: 1, total: 1 });
      const createdAt = nextTime();
      const file = `kit of ${String(openedSecrets.length)}: ${note}`;
      const kit = { sha256: await computeHexDigest(file), createdAt, outdated: false };
      for (const { secretId, rev, kits } of openedSecrets)
        updateSecret(secretId, { rev: rev + 1, kits: [...kits, kit] });
      return {
        name: `kit-${createdAt.slice(0, 10)}.html`,
        file: new Blob([file]),
        sha256: kit.sha256,
        createdAt,
        hasPassphrase,
        secretIds: openedSecrets.map(({ secretId }) => secretId),
        attachments: openedSecrets
          .filter((secret) => getNewestVersion(secret).large)
          .map(({ secretId }) => ({ secretId, name: `${secretId}.age`, file: new Blob(["sealed"]) })),
        skippedIds: skippedSecretIds,
        unverifiedIds: listForeign(openedSecrets),
      };
    },
    setDeviceKind: async (device) => {
      recordCall("setDeviceKind");
      return Promise.resolve({ keysSaved: account.setDeviceKind(device) });
    },
    setFavorite: async (secretId, favorite) => {
      recordCall("setFavorite");
      updateSecret(secretId, { favorite });
      return Promise.resolve();
    },
    trash: async (secretId) => {
      recordCall("trash");
      const { deletedAt, trashConfirmed } = requireSecret(secretId);
      updateSecret(secretId, {
        deletedAt: deletedAt ?? nextTime(),
        trashConfirmed: trashConfirmed || account.hasAccountKey(),
      });
      sharing.endShares((share) => share.secretId === secretId);
      return Promise.resolve();
    },
    confirmTrash: async (secretIds, options) => {
      recordCall("confirmTrash", options);
      account.requireAuthor();
      for (const secretId of secretIds)
        if (secrets.get(secretId)?.deletedAt != null) updateSecret(secretId, { trashConfirmed: true });
      return Promise.resolve();
    },
    restore: async (secretId) => {
      recordCall("restore");
      updateSecret(secretId, { deletedAt: null, trashConfirmed: false });
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
    keepOpen: account.keepOpen,
    signOut: async () => {
      recordCall("signOut");
      releaseAllOpeners();
      account.setState({ status: "unknown" });
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
    generateRecoveryCode: () =>
      Promise.resolve({ words: createWords(++codeCount), identity: "AGE-SECRET-KEY-PQ-1FAKE" }),
    PictureField: FakePictureField,
    releaseOpener,
  };
  return Object.freeze(fakeVault);
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
  const { secretId, title, tags, favorite, deletedAt, trashConfirmed, dropped, rev, versions, kits } = secret;
  const label = {
    title,
    tags,
    contentKind,
    name,
    size,
    openerIds: openers,
    copyCheckedAt: getLastCopyCheck(secret),
    kits,
  };
  return {
    secretId,
    version: versions.length,
    rev,
    favorite,
    sealedSize: size + 2048,
    createdAt: versions[0].createdAt,
    updatedAt: createdAt,
    deletedAt,
    trashConfirmedAt: trashConfirmed ? deletedAt : null,
    droppedAt: dropped ? deletedAt : null,
    label: isLocked ? null : label,
  };
}

function createOpenedSecret(
  secret: InMemorySecret,
  version: InMemoryVersion,
  versionNumber = secret.versions.length,
  isLocked: () => boolean,
): OpenedSecret {
  const current = versionNumber === secret.versions.length;
  const { title, tags } = current ? secret : version;
  return {
    ...createOpenedContent(version, isLocked),
    secretId: secret.secretId,
    version: versionNumber,
    title,
    signedTitle: null,
    tags,
    current,
    signatureStatus: secret.foreign ? "not_verified" : "verified",
  };
}

async function computeHexDigest(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
