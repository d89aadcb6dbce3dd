import { maxSmallContentBytes, maxTitleLength } from "../api/index.ts";
import type {
  CallOptions,
  ContentKind,
  DeviceKind,
  KitRecord,
  OpenerKind,
  NewSecretInput,
  OpenerHandle,
  VaultState,
} from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";
import type { FakeContent } from "./fake-content.ts";
import {
  releaseAllOpeners,
  readBlobText,
  resolveHandle,
  type PresentedPicture,
  type PresentedOpener,
} from "./fake-picture-field.tsx";
import { parseWords } from "./fake-words.ts";

/** An image of the book. A picture of tests is a file of text. */
export interface FakeImage {
  readonly name: string;
  /** What the file says. */
  readonly picture: string;
  readonly passphrase?: string;
}

/** A recovery code or passkey of the account. */
interface FakeKeyOpener {
  readonly kind: Exclude<OpenerKind, "image">;
  readonly name: string;
  /** What is shown for it: the words, or the first byte of what the passkey gives, as text. */
  readonly secret: string;
  /** Whether it opens what is protected already; true unless told otherwise. */
  readonly opensExisting?: boolean;
  /** Whether the service gives its slot; true unless told otherwise. */
  readonly hasSlot?: boolean;
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
  readonly formerContents?: readonly string[];
  /** Kits that hold it, the newest last. */
  readonly kits?: readonly KitRecord[];
}

export interface FakeAccountSettings {
  readonly images?: readonly FakeImage[];
  readonly keys?: readonly FakeKeyOpener[];
  readonly secrets?: readonly FakeSecret[];
  /** Whether this device holds the key at the start; true unless told otherwise. */
  readonly unlocked?: boolean;
  readonly device?: DeviceKind | null;
  /** A browser without Ed25519: an own device remembers nothing. */
  readonly lacksEd25519?: boolean;
  /**
   * What a handle stands for; those of {@link createOpenerHandle} and the fake field unless told
   * otherwise. `picture_needed`.
   */
  readonly resolveHandle?: (handle: OpenerHandle) => PresentedOpener;
}

/** What opens the account. */
export interface InMemoryOpener {
  readonly id: string;
  readonly kind: OpenerKind;
  readonly name: string;
  readonly createdAt: string;
  /** What a picture says, or what is shown for a key. */
  readonly secret: string;
  /** Of a picture; null without one. */
  readonly passphrase: string | null;
  readonly hasSlot: boolean;
}

export interface InMemoryVersion extends Required<FakeContent> {
  readonly title: string;
  readonly tags: readonly string[];
  readonly createdAt: string;
  readonly dropped: boolean;
  /** Ids of the openers that it is sealed to. */
  readonly openers: readonly string[];
}

export interface InMemorySecret {
  readonly secretId: string;
  readonly title: string;
  readonly tags: readonly string[];
  readonly favorite: boolean;
  readonly deletedAt: string | null;
  readonly rev: number;
  readonly dropped: boolean;
  readonly foreign: boolean;
  /** By opener. */
  readonly copyChecks: ReadonlyMap<string, string>;
  readonly versions: readonly [InMemoryVersion, ...InMemoryVersion[]];
  readonly kits: readonly KitRecord[];
}

const startTime = Date.parse("2026-11-01T09:00:00.000Z");

export type FakeAccount = ReturnType<typeof createFakeAccount>;

/** An account and the device that is at hand, in memory: what opens what, and what a lock ends. */
export function createFakeAccount(settings: FakeAccountSettings) {
  const listeners = new Set<() => void>();
  const openers: InMemoryOpener[] = [];
  const secrets = new Map<string, InMemorySecret>();
  let createdCount = 0;
  let device: DeviceKind | null = settings.device ?? null;
  /** Its passkey opens this device: a lock takes what it remembers. */
  let devicePasskeyId: string | null = null;
  /** Whether an opener was shown since the last lock. */
  let openerPresented = false;
  /** Grows with every lock. */
  let lockCount = 0;

  const nextId = (): string => `01890a5d-ac96-7000-8000-${(++createdCount).toString(16).padStart(12, "0")}`;
  const nextTime = (): string => new Date(startTime + createdCount * 86_400_000).toISOString();
  const allIds = (): string[] => openers.map(({ id }) => id);

  function resolve(handle: OpenerHandle): PresentedOpener {
    return (settings.resolveHandle ?? resolveHandle)(handle);
  }

  function resolvePicture(handle: OpenerHandle): PresentedPicture {
    const presented = resolve(handle);
    if ("kind" in presented) throw new PortalError("picture_needed");
    return { ...presented, passphrase: presented.passphrase === "" ? null : presented.passphrase };
  }

  function addOpener(opener: Pick<InMemoryOpener, "kind" | "name" | "secret"> & Partial<InMemoryOpener>): string {
    const id = opener.id ?? nextId();
    openers.push({ passphrase: null, hasSlot: true, createdAt: nextTime(), ...opener, id });
    return id;
  }

  function addSecret(
    {
      title,
      tags = [],
      favorite = false,
      dropped = false,
      foreign = false,
      formerContents = [],
      kits = [],
      deleted = false,
      ...content
    }: FakeSecret,
    openerIds: readonly string[] = allIds(),
    secretId = nextId(),
  ): string {
    const createVersion = (text: string): InMemoryVersion =>
      buildVersion({ ...content, title, tags, content: text, openers: openerIds });
    const [first, ...rest] = [...formerContents, content.content];
    secrets.set(secretId, {
      secretId,
      title,
      tags,
      favorite,
      dropped,
      foreign,
      copyChecks: new Map(),
      deletedAt: deleted ? nextTime() : null,
      rev: 1 + formerContents.length,
      versions: [createVersion(first), ...rest.map(createVersion)],
      kits,
    });
    return secretId;
  }

  function buildVersion({
    contentKind = "text",
    name = "secret.txt",
    mime = "text/plain",
    content,
    large,
    ...rest
  }: FakeContent & Pick<InMemoryVersion, "title" | "tags" | "openers">): InMemoryVersion {
    return {
      contentKind,
      name,
      mime,
      content,
      large: large ?? content.length > maxSmallContentBytes,
      ...rest,
      createdAt: nextTime(),
      dropped: false,
    };
  }

  for (const { picture, passphrase = null, ...image } of settings.images ?? [])
    addOpener({ ...image, kind: "image", secret: picture, passphrase });
  for (const secret of settings.secrets ?? []) addSecret(secret);
  if (secrets.size > 0 && openers.length === 0) addOpener({ kind: "image", name: "garden", secret: "garden" });
  const openerIds: string[] = allIds();
  for (const { opensExisting = true, ...key } of settings.keys ?? []) {
    const id = addOpener(key);
    if (opensExisting) openerIds.push(id);
  }
  for (const secret of secrets.values())
    updateSecret(secret.secretId, {
      versions: mapVersions(secret.versions, (version) => ({ ...version, openers: openerIds })),
    });

  let state: VaultState =
    openers.length === 0
      ? { status: "empty" }
      : settings.unlocked === false
        ? { status: "locked" }
        : { status: "unlocked", device: settings.device === undefined ? "own" : settings.device };
  if (state.status === "unlocked") device = state.device;

  function setState(next: VaultState): void {
    if (JSON.stringify(next) === JSON.stringify(state)) return;
    state = next;
    for (const listener of [...listeners]) listener();
  }

  function requireSecret(secretId: string): InMemorySecret {
    const secret = secrets.get(secretId);
    if (secret === undefined) throw new PortalError("not_found");
    return secret;
  }

  function updateSecret(secretId: string, next: Partial<InMemorySecret>): void {
    secrets.set(secretId, { ...requireSecret(secretId), ...next });
  }

  function requireVersion(
    secretId: string,
    number?: number,
  ): { readonly secret: InMemorySecret; readonly version: InMemoryVersion } {
    const secret = requireSecret(secretId);
    const version = secret.versions[(number ?? secret.versions.length) - 1];
    if (version === undefined) throw new PortalError("not_found");
    return { secret, version };
  }

  function requireUnlocked(): void {
    if (state.status !== "unlocked") throw new PortalError("vault_locked");
  }

  function unlock(opener?: InMemoryOpener): void {
    openerPresented = true;
    if (opener?.kind === "passkey") devicePasskeyId = opener.id;
    setState({ status: "unlocked", device });
  }

  /** The opener that is shown. */
  async function recognise(handle: OpenerHandle): Promise<InMemoryOpener> {
    const presented = resolve(handle);
    if (openers.length === 0) throw new PortalError("no_keyring");
    if ("kind" in presented) {
      const secret = getKeySecret(presented);
      const key = openers.find((opener) => opener.kind === presented.kind && opener.secret === secret);
      if (key === undefined)
        throw new PortalError(presented.kind === "passkey" ? "not_this_passkey" : "not_this_recovery_code");
      return key;
    }
    const { passphrase, picture } = resolvePicture(handle);
    const text = await readBlobText(picture);
    const images = openers.filter(({ kind }) => kind === "image");
    const samePicture = images.filter(({ secret }) => secret === text);
    const match = samePicture.find((opener) => opener.passphrase === passphrase);
    if (match !== undefined) return match;
    if (passphrase !== null && samePicture.some((opener) => opener.passphrase === null))
      throw new PortalError("plain_helper_refused");
    throw new PortalError(
      passphrase === null && images.every((opener) => opener.passphrase === null)
        ? "not_this_picture"
        : "not_this_picture_or_passphrase",
    );
  }

  /** Shows an opener for an act; on a locked device it unlocks. */
  async function presentHandle(handle: OpenerHandle): Promise<InMemoryOpener> {
    const opener = await recognise(handle);
    unlock(opener);
    return opener;
  }

  /** Who can open what is protected now; a new picture becomes an opener. */
  async function resolveProtection(protection: NewSecretInput["protection"]): Promise<readonly string[]> {
    if (protection.kind === "openers") {
      const wanted = new Set(protection.openers);
      const chosen = openers.filter(({ id }) => wanted.size === 0 || wanted.has(id));
      if ((wanted.size > 0 && chosen.length < wanted.size) || !chosen.some(({ kind }) => kind === "image"))
        throw new PortalError("opener_needed");
      return chosen.map(({ id }) => id);
    }
    const { passphrase, picture } = resolvePicture(protection.picture);
    const text = await readBlobText(picture);
    const existing = openers.find(({ kind, secret }) => kind === "image" && secret === text);
    const isOpener = existing?.passphrase === passphrase;
    if (openers.length > 0 && !openerPresented && !isOpener)
      throw new PortalError(existing?.passphrase === null ? "picture_has_no_passphrase" : "show_opener_first");
    if (existing === undefined) addOpener({ kind: "image", name: protection.name, secret: text, passphrase });
    else if (!isOpener)
      throw new PortalError(
        existing.passphrase === null ? "picture_has_no_passphrase" : "not_this_picture_or_passphrase",
      );
    openerPresented = true;
    return allIds();
  }

  return {
    nextId,
    nextTime,
    getState: () => state,
    listeners,
    openers,
    secrets,
    require: requireSecret,
    change: updateSecret,
    resolve,
    resolvePicture,
    requireUnlocked,
    recognise,
    show: presentHandle,
    choose: resolveProtection,
    unlock,
    addOpener,
    addSecret,
    become: setState,
    /** Grows with every lock: what was opened before is put away. */
    getLockCount: () => lockCount,
    /** The account key, by an opener or by one that was shown before. */
    requirePresented: async (handle: OpenerHandle | null): Promise<void> => {
      if (handle !== null) {
        await presentHandle(handle);
        return;
      }
      requireUnlocked();
      if (!openerPresented) throw new PortalError("show_opener_first");
    },
    /** Opens one secret, or a version of it. */
    openWith: async (
      secretId: string,
      handle: OpenerHandle,
      number?: number,
    ): Promise<{
      readonly secret: InMemorySecret;
      readonly version: InMemoryVersion;
      readonly opener: InMemoryOpener;
    }> => {
      resolve(handle);
      if (state.status === "unlocked") requireVersion(secretId, number);
      const opener = await presentHandle(handle);
      const { secret, version } = requireVersion(secretId, number);
      if (secret.dropped || version.dropped) throw new PortalError("content_gone");
      if (!version.openers.includes(opener.id)) throw new PortalError("opener_needed");
      return { secret, version, opener };
    },
    addVersion: (
      secretId: string,
      content: FakeContent,
      openerIds: readonly string[],
      metadata: { readonly title?: string | undefined; readonly tags?: readonly string[] | undefined } = {},
    ): number => {
      const secret = requireSecret(secretId);
      const { title = secret.title, tags = secret.tags } = metadata;
      createdCount++;
      const version = buildVersion({ ...content, title, tags, openers: openerIds });
      const copyChecks = new Map([...secret.copyChecks].filter(([id]) => openerIds.includes(id)));
      updateSecret(secretId, {
        title,
        tags,
        copyChecks,
        rev: secret.rev + 1,
        versions: [...secret.versions, version],
        kits: markOutdated(secret.kits),
      });
      return secret.versions.length + 1;
    },
    /** Seals the newest version to other openers; with all of them former ones too. */
    reseal: (
      secretId: string,
      ids: (before: readonly string[]) => readonly string[],
      versions: "newest" | "all" = "newest",
    ): void => {
      const secret = requireSecret(secretId);
      const newest = secret.versions.length - 1;
      const versionsAfter = mapVersions(secret.versions, (version, index) =>
        index === newest || versions === "all" ? { ...version, openers: ids(version.openers) } : version,
      );
      const newestOpeners = versionsAfter[newest]?.openers ?? [];
      updateSecret(secretId, {
        rev: secret.rev + 1,
        versions: versionsAfter,
        copyChecks: new Map([...secret.copyChecks].filter(([id]) => newestOpeners.includes(id))),
        kits: markOutdated(secret.kits),
      });
    },
    removeOpener: (id: string): void => {
      openers.splice(
        openers.findIndex((opener) => opener.id === id),
        1,
      );
      if (devicePasskeyId === id) devicePasskeyId = null;
    },
    /** A passkey that was made here opens this device from now on. */
    setDevicePasskey: (id: string): void => {
      devicePasskeyId = id;
    },
    setDeviceKind: (kind: DeviceKind): boolean => {
      requireUnlocked();
      device = kind;
      setState({ status: "unlocked", device });
      return kind === "own" && settings.lacksEd25519 !== true;
    },
    archiveDeviceRecord: (): void => {
      [device, devicePasskeyId, openerPresented] = [null, null, false];
      if (state.status === "unlocked") setState({ status: "locked" });
    },
    unlockBySignIn: (): void => {
      if (state.status === "unlocked") return;
      if (openers.length === 0) throw new PortalError("no_keyring");
      if (device !== "own" || devicePasskeyId !== null) throw new PortalError("opener_needed");
      setState({ status: "unlocked", device });
    },
    lock: (): void => {
      lockCount++;
      openerPresented = false;
      releaseAllOpeners();
      if (state.status === "unlocked") setState({ status: "locked" });
    },
    /** Everything of before goes, and this picture is the one opener. */
    resetTo: async (handle: OpenerHandle, name: string): Promise<void> => {
      const { picture, passphrase } = resolvePicture(handle);
      const secret = await readBlobText(picture);
      secrets.clear();
      openers.length = 0;
      devicePasskeyId = null;
      addOpener({ kind: "image", name, secret, passphrase });
      unlock();
    },
  };
}

function mapVersions(
  versions: InMemorySecret["versions"],
  edit: (version: InMemoryVersion, index: number) => InMemoryVersion,
): InMemorySecret["versions"] {
  const [first, ...rest] = versions;
  return [edit(first, 0), ...rest.map((version, index) => edit(version, index + 1))];
}

function markOutdated(kits: readonly KitRecord[]): readonly KitRecord[] {
  return kits.map((kit) => ({ ...kit, outdated: true }));
}

export function getNewestVersion({ versions }: InMemorySecret): InMemoryVersion {
  return versions[versions.length - 1] ?? versions[0];
}

/** When a copy was last checked, with any opener. */
export function getLastCopyCheck({ copyChecks }: InMemorySecret): string | null {
  return [...copyChecks.values()].toSorted().pop() ?? null;
}

export function throwIfCancelled(options: CallOptions | undefined): void {
  if (options?.signal?.aborted === true) throw new PortalError("cancelled");
}

/** @throws PortalError `validation_error` with the names of what does not fit. */
export function throwIfInvalid(fields: Readonly<Record<string, boolean>>): void {
  const invalidFields = Object.keys(fields).filter((name) => fields[name] === true);
  if (invalidFields.length > 0) throw new PortalError("validation_error", { details: { fields: invalidFields } });
}

export function isValidText(text: string | undefined, maximum = maxTitleLength): boolean {
  return text === undefined || (text !== "" && text.length <= maximum);
}

/** What is shown for a key. @throws PortalError `recovery_code_unreadable`. */
export function getKeySecret(presented: Extract<PresentedOpener, { readonly kind: string }>): string {
  return presented.kind === "passkey"
    ? String(presented.prf[0])
    : parseWords(presented.code, 24, "recovery_code_unreadable").join(" ");
}
