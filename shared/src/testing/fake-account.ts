import { maxSmallContentBytes, maxTitleLength } from "../api/index.ts";
import type {
  CallOptions,
  ContentKind,
  DeviceKind,
  KeepOpen,
  KeepOpenDuration,
  KeepOpenStatus,
  KitRecord,
  OpenerKind,
  NewSecretInput,
  OpenerHandle,
  VaultState,
} from "../contract/index.ts";
import { chosenStrength } from "../contract/strength-level.ts";
import { estimateStrength } from "../contract/strength.ts";
import { PortalError } from "../errors/index.ts";
import type { FakeContent } from "./fake-content.tsx";
import {
  releaseAllOpeners,
  readBlobText,
  resolveHandle,
  type PresentedPicture,
  type PresentedOpener,
} from "./fake-picture-field.tsx";
import { parseWords } from "./fake-words.ts";

/** A recovery image. Tests represent a picture by a text file. */
export interface FakeImage {
  readonly name: string;
  /** Text of the file that represents the picture. */
  readonly picture: string;
  readonly passphrase?: string;
}

/** A recovery code or passkey of the account. */
interface FakeKeyOpener {
  readonly kind: Exclude<OpenerKind, "image">;
  readonly name: string;
  /** The words of a recovery code, or the first byte of a passkey's PRF output, as text. */
  readonly credential: string;
  /** Whether it opens the existing secrets; true by default. */
  readonly opensExisting?: boolean;
  /** Whether the service returns its slot; true by default. */
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
  /**
   * Whether it is too large for memory. Once opened, its `content` is null and `save` returns it.
   */
  readonly large?: boolean;
  /** Whether its content was dropped, after 30 days in the trash. */
  readonly dropped?: boolean;
  /** Whether no key of this account signed it. */
  readonly foreign?: boolean;
  /** Contents of former versions, oldest first. */
  readonly formerContents?: readonly string[];
  /** Kits that contain it, oldest first. */
  readonly kits?: readonly KitRecord[];
}

export interface FakeAccountSettings {
  readonly images?: readonly FakeImage[];
  readonly keys?: readonly FakeKeyOpener[];
  readonly secrets?: readonly FakeSecret[];
  /** Whether this device starts unlocked; true by default. */
  readonly unlocked?: boolean;
  readonly device?: DeviceKind | null;
  /** Whether to simulate a browser without Ed25519, in which an own device stores no keys. */
  readonly lacksEd25519?: boolean;
  /**
   * Resolves a handle to its opener. By default it knows the handles of {@link createOpenerHandle}
   * and of the fake field.
   * @throws PortalError `picture_needed`
   */
  readonly resolveHandle?: (handle: OpenerHandle) => PresentedOpener;
}

export interface InMemoryOpener {
  readonly id: string;
  readonly kind: OpenerKind;
  readonly name: string;
  readonly createdAt: string;
  /** Text of a picture, or the credential of a key. */
  readonly credential: string;
  /** Passphrase of a picture, or null. */
  readonly passphrase: string | null;
  readonly hasSlot: boolean;
}

export interface InMemoryVersion extends Required<FakeContent> {
  readonly title: string;
  readonly tags: readonly string[];
  readonly createdAt: string;
  readonly dropped: boolean;
  /** Ids of the openers to which it is sealed. */
  readonly openers: readonly string[];
}

export interface InMemorySecret {
  readonly secretId: string;
  readonly title: string;
  readonly tags: readonly string[];
  readonly favorite: boolean;
  readonly deletedAt: string | null;
  readonly trashConfirmed: boolean;
  readonly rev: number;
  readonly dropped: boolean;
  readonly foreign: boolean;
  /** Dates by opener id. */
  readonly copyChecks: ReadonlyMap<string, string>;
  readonly versions: readonly [InMemoryVersion, ...InMemoryVersion[]];
  readonly kits: readonly KitRecord[];
}

const startTime = Date.parse("2026-11-01T09:00:00.000Z");

export type FakeAccount = ReturnType<typeof createFakeAccount>;

/**
 * Creates an account and a device in memory. It knows which openers open which secrets, and what a
 * lock ends.
 */
export function createFakeAccount(settings: FakeAccountSettings) {
  const listeners = new Set<() => void>();
  const openers: InMemoryOpener[] = [];
  const secrets = new Map<string, InMemorySecret>();
  let createdCount = 0;
  let device: DeviceKind | null = settings.device ?? null;
  /** Passkey of this device. If it has one, a lock also removes the stored metadata keys. */
  let devicePasskeyId: string | null = null;
  /** Whether an opener was presented after the last lock. */
  let openerPresented = false;
  let keepOpenDuration: KeepOpenDuration = "five_minutes";
  let keptOpener: InMemoryOpener | null = null;
  let keepOpenStatus: KeepOpenStatus = "none";
  /** Whether a sign-in unlocked, without an opener: the account key is missing. */
  let lacksAccountKey = false;
  let lockCount = 0;

  const nextId = (): string => `01890a5d-ac96-7000-8000-${(++createdCount).toString(16).padStart(12, "0")}`;
  const nextTime = (): string => new Date(startTime + createdCount * 86_400_000).toISOString();
  const allIds = (): string[] => openers.map(({ id }) => id);

  function resolve(handle: OpenerHandle): PresentedOpener {
    return (settings.resolveHandle ?? resolveHandle)(handle);
  }

  function resolvePicture(handle: OpenerHandle): PresentedPicture {
    const presentedOpener = resolve(handle);
    if ("kind" in presentedOpener) throw new PortalError("picture_needed");
    return { ...presentedOpener, passphrase: presentedOpener.passphrase === "" ? null : presentedOpener.passphrase };
  }

  function addOpener(opener: Pick<InMemoryOpener, "kind" | "name" | "credential"> & Partial<InMemoryOpener>): string {
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
      trashConfirmed: deleted,
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
    addOpener({ ...image, kind: "image", credential: picture, passphrase });
  for (const secret of settings.secrets ?? []) addSecret(secret);
  if (secrets.size > 0 && openers.length === 0) addOpener({ kind: "image", name: "garden", credential: "garden" });
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
    versionNumber?: number,
  ): { readonly secret: InMemorySecret; readonly version: InMemoryVersion } {
    const secret = requireSecret(secretId);
    const version = secret.versions[(versionNumber ?? secret.versions.length) - 1];
    if (version === undefined) throw new PortalError("not_found");
    return { secret, version };
  }

  function requireUnlocked(): void {
    if (state.status !== "unlocked") throw new PortalError("vault_locked");
  }

  /** Requires what only the author key may change. @throws PortalError `show_opener_first` */
  function requireAuthor(): void {
    requireUnlocked();
    if (lacksAccountKey) throw new PortalError("show_opener_first");
  }

  function unlock(opener?: InMemoryOpener): void {
    openerPresented = true;
    lacksAccountKey = false;
    if (opener?.kind === "passkey") devicePasskeyId = opener.id;
    setState({ status: "unlocked", device });
  }

  /** Returns the presented opener of the account. */
  async function recognise(handle: OpenerHandle): Promise<InMemoryOpener> {
    const presentedOpener = resolve(handle);
    if (openers.length === 0) throw new PortalError("no_keyring");
    if ("kind" in presentedOpener) {
      const credential = getKeySecret(presentedOpener);
      const key = openers.find((opener) => opener.kind === presentedOpener.kind && opener.credential === credential);
      if (key === undefined)
        throw new PortalError(presentedOpener.kind === "passkey" ? "not_this_passkey" : "not_this_recovery_code");
      return key;
    }
    const { passphrase, picture } = resolvePicture(handle);
    const text = await readBlobText(picture);
    const images = openers.filter(({ kind }) => kind === "image");
    const samePicture = images.filter(({ credential }) => credential === text);
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

  /** Presents an opener for an operation. Unlocks a locked device. */
  async function presentHandle(handle: OpenerHandle): Promise<InMemoryOpener> {
    const opener = await recognise(handle);
    unlock(opener);
    keptOpener = keepOpenDuration === "every_time" ? null : opener;
    keepOpenStatus = keptOpener === null ? "none" : "open";
    return opener;
  }

  function releaseKept(reason: KeepOpenStatus): void {
    keptOpener = null;
    if (keepOpenStatus !== "none") keepOpenStatus = reason;
  }

  function requireKept(): InMemoryOpener {
    const kept = openers.find(({ id }) => id === keptOpener?.id);
    if (state.status !== "unlocked" || kept === undefined) throw new PortalError("show_opener_first");
    return kept;
  }

  /** Returns the ids of the openers to protect with. A new picture becomes an opener. */
  async function resolveProtection(protection: NewSecretInput["protection"]): Promise<readonly string[]> {
    if (protection.kind === "openers") {
      if (lacksAccountKey) throw new PortalError("show_opener_first");
      const requestedIds = new Set(protection.openerIds);
      const chosenOpeners = openers.filter(({ id }) => requestedIds.size === 0 || requestedIds.has(id));
      if (
        (requestedIds.size > 0 && chosenOpeners.length < requestedIds.size) ||
        !chosenOpeners.some(({ kind }) => kind === "image")
      )
        throw new PortalError("opener_needed");
      return chosenOpeners.map(({ id }) => id);
    }
    const { passphrase, picture } = resolvePicture(protection.picture);
    const text = await readBlobText(picture);
    const existing = openers.find(({ kind, credential }) => kind === "image" && credential === text);
    const isOpener = existing?.passphrase === passphrase;
    if (openers.length > 0 && !openerPresented && !isOpener)
      throw new PortalError(existing?.passphrase === null ? "picture_has_no_passphrase" : "show_opener_first");
    if (existing === undefined && passphrase !== null && (await estimateStrength(passphrase)) < chosenStrength)
      throw new PortalError("passphrase_too_weak");
    if (existing === undefined) addOpener({ kind: "image", name: protection.name, credential: text, passphrase });
    else if (!isOpener)
      throw new PortalError(
        existing.passphrase === null ? "picture_has_no_passphrase" : "not_this_picture_or_passphrase",
      );
    openerPresented = true;
    lacksAccountKey = false;
    return allIds();
  }

  return {
    nextId,
    nextTime,
    getState: () => state,
    requireAuthor,
    hasAccountKey: (): boolean => state.status === "unlocked" && !lacksAccountKey,
    listeners,
    openers,
    secrets,
    requireSecret,
    updateSecret,
    resolve,
    resolvePicture,
    requireUnlocked,
    recognise,
    presentHandle,
    /** The time does not pass here. */
    keepOpen: Object.freeze<KeepOpen>({
      get: () => keepOpenDuration,
      set: (duration) => {
        keepOpenDuration = duration;
        releaseKept("setting_changed");
      },
      getStatus: () => keepOpenStatus,
    }),
    resolveProtection,
    unlock,
    addOpener,
    addSecret,
    setState,
    /** Returns the number of locks. Contents opened before the last lock are disposed. */
    getLockCount: () => lockCount,
    /** Requires the account key, from this opener or from one presented earlier. */
    requirePresented: async (handle: OpenerHandle | null): Promise<void> => {
      if (handle !== null) {
        await presentHandle(handle);
        return;
      }
      requireUnlocked();
      if (!openerPresented) throw new PortalError("show_opener_first");
    },
    openWith: async (
      secretId: string,
      handle: OpenerHandle | null,
      versionNumber?: number,
    ): Promise<{
      readonly secret: InMemorySecret;
      readonly version: InMemoryVersion;
      readonly opener: InMemoryOpener;
    }> => {
      if (handle !== null) resolve(handle);
      if (state.status === "unlocked") requireVersion(secretId, versionNumber);
      const opener = handle === null ? requireKept() : await presentHandle(handle);
      const { secret, version } = requireVersion(secretId, versionNumber);
      if (secret.dropped || version.dropped) throw new PortalError("content_gone");
      if (!version.openers.includes(opener.id))
        throw new PortalError(handle === null ? "show_opener_first" : "opener_needed");
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
    /** Re-seals the newest version, or all versions, to other openers. */
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
    /** Makes a passkey the passkey of this device. */
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
      lacksAccountKey = true;
      setState({ status: "unlocked", device });
    },
    lock: (): void => {
      lockCount++;
      openerPresented = false;
      releaseKept("locked");
      releaseAllOpeners();
      if (state.status === "unlocked") setState({ status: "locked" });
    },
    /** Removes all openers and secrets, and makes this picture the only opener. */
    resetTo: async (handle: OpenerHandle, name: string): Promise<void> => {
      const { picture, passphrase } = resolvePicture(handle);
      const pictureText = await readBlobText(picture);
      secrets.clear();
      openers.length = 0;
      devicePasskeyId = null;
      addOpener({ kind: "image", name, credential: pictureText, passphrase });
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

/** Date of the last copy check with any opener. */
export function getLastCopyCheck({ copyChecks }: InMemorySecret): string | null {
  return [...copyChecks.values()].toSorted().pop() ?? null;
}

export function throwIfCancelled(options: CallOptions | undefined): void {
  if (options?.signal?.aborted === true) throw new PortalError("cancelled");
}

/** @throws PortalError `validation_error` with the names of the invalid fields */
export function throwIfInvalid(fields: Readonly<Record<string, boolean>>): void {
  const invalidFields = Object.keys(fields).filter((name) => fields[name] === true);
  if (invalidFields.length > 0) throw new PortalError("validation_error", { details: { fields: invalidFields } });
}

export function isValidText(text: string | undefined, maximum = maxTitleLength): boolean {
  return text === undefined || (text !== "" && text.length <= maximum);
}

/**
 * Returns the credential of a presented key.
 *
 * @throws PortalError `recovery_code_unreadable`
 */
export function getKeySecret(presentedOpener: Extract<PresentedOpener, { readonly kind: string }>): string {
  return presentedOpener.kind === "passkey"
    ? String(presentedOpener.prf[0])
    : parseWords(presentedOpener.code, 24, "recovery_code_unreadable").join(" ");
}
