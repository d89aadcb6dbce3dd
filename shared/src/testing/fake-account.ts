import { maxSmallContentBytes, maxTitleLength } from "../api/index.ts";
import type {
  CallOptions,
  ContentKind,
  DeviceKind,
  KitOfSecret,
  OpenerKind,
  ProtectRequest,
  ShownImage,
  VaultState,
} from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";
import type { FakeContent } from "./fake-content.ts";
import { forgetAllShown, textOf, whatIsShown, type PictureShown, type WhatIsShown } from "./fake-picture-field.tsx";
import { wordsIn } from "./fake-words.ts";

/** An image of the book. A picture of tests is a file of text. */
export interface FakeImage {
  readonly name: string;
  /** What the file says. */
  readonly picture: string;
  readonly passphrase?: string;
}

/** A recovery code or passkey of the account. */
interface FakeKey {
  readonly kind: Exclude<OpenerKind, "image">;
  readonly name: string;
  /** What is shown for it: the words, or the first byte of what the passkey gives, as text. */
  readonly secret: string;
  /** Whether it opens what is protected already; true unless told otherwise. */
  readonly covers?: boolean;
  /** Whether the service gives its slot; true unless told otherwise. */
  readonly served?: boolean;
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

export interface FakeAccountSettings {
  readonly images?: readonly FakeImage[];
  readonly keys?: readonly FakeKey[];
  readonly secrets?: readonly FakeSecret[];
  /** Whether this device holds the key at the start; true unless told otherwise. */
  readonly unlocked?: boolean;
  readonly device?: DeviceKind | null;
  /** A browser without Ed25519: an own device remembers nothing. */
  readonly forgets?: boolean;
  /**
   * What a handle stands for; those of {@link shownImage} and the fake field unless told otherwise.
   * `picture_needed`.
   */
  readonly whatIsShown?: (shown: ShownImage) => WhatIsShown;
}

/** What opens the account. */
export interface KeptOpener {
  readonly id: string;
  readonly kind: OpenerKind;
  readonly name: string;
  readonly createdAt: string;
  /** What a picture says, or what is shown for a key. */
  readonly secret: string;
  /** Of a picture; null without one. */
  readonly passphrase: string | null;
  readonly served: boolean;
}

export interface KeptVersion extends Required<FakeContent> {
  readonly title: string;
  readonly tags: readonly string[];
  readonly createdAt: string;
  readonly dropped: boolean;
  /** Ids of the openers that it is sealed to. */
  readonly openers: readonly string[];
}

export interface KeptSecret {
  readonly secretId: string;
  readonly title: string;
  readonly tags: readonly string[];
  readonly favorite: boolean;
  readonly deletedAt: string | null;
  readonly rev: number;
  readonly dropped: boolean;
  readonly foreign: boolean;
  /** By opener. */
  readonly rehearsed: ReadonlyMap<string, string>;
  readonly versions: readonly [KeptVersion, ...KeptVersion[]];
  readonly kits: readonly KitOfSecret[];
}

const start = Date.parse("2026-11-01T09:00:00.000Z");

export type FakeAccount = ReturnType<typeof createFakeAccount>;

/** An account and the device that is at hand, in memory: what opens what, and what a lock ends. */
export function createFakeAccount(settings: FakeAccountSettings) {
  const listeners = new Set<() => void>();
  const openers: KeptOpener[] = [];
  const secrets = new Map<string, KeptSecret>();
  let made = 0;
  let device: DeviceKind | null = settings.device ?? null;
  /** Its passkey opens this device: a lock takes what it remembers. */
  let passkey: string | null = null;
  /** Whether an opener was shown since the last lock. */
  let openerShown = false;
  /** Grows with every lock. */
  let locks = 0;

  const nextId = (): string => `01890a5d-ac96-7000-8000-${(++made).toString(16).padStart(12, "0")}`;
  const nextTime = (): string => new Date(start + made * 86_400_000).toISOString();
  const allIds = (): string[] => openers.map(({ id }) => id);

  function resolve(shown: ShownImage): WhatIsShown {
    return (settings.whatIsShown ?? whatIsShown)(shown);
  }

  function resolvePicture(shown: ShownImage): PictureShown {
    const given = resolve(shown);
    if ("kind" in given) throw new PortalError("picture_needed");
    return { ...given, passphrase: given.passphrase === "" ? null : given.passphrase };
  }

  function addOpener(opener: Pick<KeptOpener, "kind" | "name" | "secret"> & Partial<KeptOpener>): string {
    const id = opener.id ?? nextId();
    openers.push({ passphrase: null, served: true, createdAt: nextTime(), ...opener, id });
    return id;
  }

  function addSecret(
    {
      title,
      tags = [],
      favorite = false,
      dropped = false,
      foreign = false,
      former = [],
      kits = [],
      deleted = false,
      ...content
    }: FakeSecret,
    ids: readonly string[] = allIds(),
    secretId = nextId(),
  ): string {
    const version = (text: string): KeptVersion => versionOf({ ...content, title, tags, content: text, openers: ids });
    const [first, ...rest] = [...former, content.content];
    secrets.set(secretId, {
      secretId,
      title,
      tags,
      favorite,
      dropped,
      foreign,
      rehearsed: new Map(),
      deletedAt: deleted ? nextTime() : null,
      rev: 1 + former.length,
      versions: [version(first), ...rest.map(version)],
      kits,
    });
    return secretId;
  }

  function versionOf({
    contentKind = "text",
    name = "secret.txt",
    mime = "text/plain",
    content,
    large,
    ...rest
  }: FakeContent & Pick<KeptVersion, "title" | "tags" | "openers">): KeptVersion {
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
  const covering: string[] = allIds();
  for (const { covers = true, ...key } of settings.keys ?? []) {
    const id = addOpener(key);
    if (covers) covering.push(id);
  }
  for (const secret of secrets.values())
    change(secret.secretId, { versions: withAll(secret.versions, (version) => ({ ...version, openers: covering })) });

  let state: VaultState =
    openers.length === 0
      ? { status: "empty" }
      : settings.unlocked === false
        ? { status: "locked" }
        : { status: "unlocked", device: settings.device === undefined ? "own" : settings.device };
  if (state.status === "unlocked") device = state.device;

  function become(next: VaultState): void {
    if (JSON.stringify(next) === JSON.stringify(state)) return;
    state = next;
    for (const listener of [...listeners]) listener();
  }

  function require(secretId: string): KeptSecret {
    const secret = secrets.get(secretId);
    if (secret === undefined) throw new PortalError("not_found");
    return secret;
  }

  function change(secretId: string, next: Partial<KeptSecret>): void {
    secrets.set(secretId, { ...require(secretId), ...next });
  }

  function requireVersion(
    secretId: string,
    number?: number,
  ): { readonly secret: KeptSecret; readonly version: KeptVersion } {
    const secret = require(secretId);
    const version = secret.versions[(number ?? secret.versions.length) - 1];
    if (version === undefined) throw new PortalError("not_found");
    return { secret, version };
  }

  function requireUnlocked(): void {
    if (state.status !== "unlocked") throw new PortalError("vault_locked");
  }

  function unlock(by?: KeptOpener): void {
    openerShown = true;
    if (by?.kind === "passkey") passkey = by.id;
    become({ status: "unlocked", device });
  }

  /** The opener that is shown. */
  async function recognise(shown: ShownImage): Promise<KeptOpener> {
    const given = resolve(shown);
    if (openers.length === 0) throw new PortalError("no_keyring");
    if ("kind" in given) {
      const secret = secretOf(given);
      const key = openers.find((one) => one.kind === given.kind && one.secret === secret);
      if (key === undefined)
        throw new PortalError(given.kind === "passkey" ? "not_this_passkey" : "not_this_recovery_code");
      return key;
    }
    const { passphrase, picture } = resolvePicture(shown);
    const text = await textOf(picture);
    const images = openers.filter(({ kind }) => kind === "image");
    const same = images.filter(({ secret }) => secret === text);
    const found = same.find((one) => one.passphrase === passphrase);
    if (found !== undefined) return found;
    if (passphrase !== null && same.some((one) => one.passphrase === null))
      throw new PortalError("plain_helper_refused");
    throw new PortalError(
      passphrase === null && images.every((one) => one.passphrase === null)
        ? "not_this_picture"
        : "not_this_picture_or_passphrase",
    );
  }

  /** Shows an opener for an act; on a locked device it unlocks. */
  async function show(shown: ShownImage): Promise<KeptOpener> {
    const opener = await recognise(shown);
    unlock(opener);
    return opener;
  }

  /** Who can open what is protected now; a new picture becomes an opener. */
  async function choose(protection: ProtectRequest["protection"]): Promise<readonly string[]> {
    if (protection.kind === "openers") {
      const wanted = new Set(protection.openers);
      const chosen = openers.filter(({ id }) => wanted.size === 0 || wanted.has(id));
      if ((wanted.size > 0 && chosen.length < wanted.size) || !chosen.some(({ kind }) => kind === "image"))
        throw new PortalError("opener_needed");
      return chosen.map(({ id }) => id);
    }
    const { passphrase, picture } = resolvePicture(protection.shown);
    const text = await textOf(picture);
    const known = openers.find(({ kind, secret }) => kind === "image" && secret === text);
    const isOpener = known?.passphrase === passphrase;
    if (openers.length > 0 && !openerShown && !isOpener)
      throw new PortalError(known?.passphrase === null ? "picture_has_no_passphrase" : "show_opener_first");
    if (known === undefined) addOpener({ kind: "image", name: protection.name, secret: text, passphrase });
    else if (!isOpener)
      throw new PortalError(known.passphrase === null ? "picture_has_no_passphrase" : "not_this_picture_or_passphrase");
    openerShown = true;
    return allIds();
  }

  return {
    nextId,
    nextTime,
    getState: () => state,
    listeners,
    openers,
    secrets,
    require,
    change,
    resolve,
    resolvePicture,
    requireUnlocked,
    recognise,
    show,
    choose,
    unlock,
    addOpener,
    addSecret,
    become,
    /** Grows with every lock: what was opened before is put away. */
    locks: () => locks,
    /** The account key, by an opener or by one that was shown before. */
    requireShown: async (shown: ShownImage | null): Promise<void> => {
      if (shown !== null) {
        await show(shown);
        return;
      }
      requireUnlocked();
      if (!openerShown) throw new PortalError("show_opener_first");
    },
    /** Opens one secret, or a version of it. */
    openWith: async (
      secretId: string,
      shown: ShownImage,
      number?: number,
    ): Promise<{ readonly secret: KeptSecret; readonly version: KeptVersion; readonly opener: KeptOpener }> => {
      resolve(shown);
      if (state.status === "unlocked") requireVersion(secretId, number);
      const opener = await show(shown);
      const { secret, version } = requireVersion(secretId, number);
      if (secret.dropped || version.dropped) throw new PortalError("content_gone");
      if (!version.openers.includes(opener.id)) throw new PortalError("opener_needed");
      return { secret, version, opener };
    },
    addVersion: (
      secretId: string,
      content: FakeContent,
      ids: readonly string[],
      named: { readonly title?: string | undefined; readonly tags?: readonly string[] | undefined } = {},
    ): number => {
      const secret = require(secretId);
      const { title = secret.title, tags = secret.tags } = named;
      made++;
      const version = versionOf({ ...content, title, tags, openers: ids });
      const rehearsed = new Map([...secret.rehearsed].filter(([id]) => ids.includes(id)));
      change(secretId, {
        title,
        tags,
        rehearsed,
        rev: secret.rev + 1,
        versions: [...secret.versions, version],
        kits: outdated(secret.kits),
      });
      return secret.versions.length + 1;
    },
    /** Seals the newest version to other openers; with all of them former ones too. */
    seal: (
      secretId: string,
      ids: (before: readonly string[]) => readonly string[],
      versions: "newest" | "all" = "newest",
    ): void => {
      const secret = require(secretId);
      const newest = secret.versions.length - 1;
      const sealed = withAll(secret.versions, (version, index) =>
        index === newest || versions === "all" ? { ...version, openers: ids(version.openers) } : version,
      );
      const now = sealed[newest]?.openers ?? [];
      change(secretId, {
        rev: secret.rev + 1,
        versions: sealed,
        rehearsed: new Map([...secret.rehearsed].filter(([id]) => now.includes(id))),
        kits: outdated(secret.kits),
      });
    },
    removeOpener: (id: string): void => {
      openers.splice(
        openers.findIndex((one) => one.id === id),
        1,
      );
      if (passkey === id) passkey = null;
    },
    /** A passkey that was made here opens this device from now on. */
    takePasskey: (id: string): void => {
      passkey = id;
    },
    answerDevice: (kind: DeviceKind): boolean => {
      requireUnlocked();
      device = kind;
      become({ status: "unlocked", device });
      return kind === "own" && settings.forgets !== true;
    },
    setDeviceAside: (): void => {
      [device, passkey, openerShown] = [null, null, false];
      if (state.status === "unlocked") become({ status: "locked" });
    },
    unlockByPresence: (): void => {
      if (state.status === "unlocked") return;
      if (openers.length === 0) throw new PortalError("no_keyring");
      if (device !== "own" || passkey !== null) throw new PortalError("opener_needed");
      become({ status: "unlocked", device });
    },
    lock: (): void => {
      locks++;
      openerShown = false;
      forgetAllShown();
      if (state.status === "unlocked") become({ status: "locked" });
    },
    /** Everything of before goes, and this picture is the one opener. */
    begin: async (shown: ShownImage, name: string): Promise<void> => {
      const { picture, passphrase } = resolvePicture(shown);
      const secret = await textOf(picture);
      secrets.clear();
      openers.length = 0;
      passkey = null;
      addOpener({ kind: "image", name, secret, passphrase });
      unlock();
    },
  };
}

function withAll(
  versions: KeptSecret["versions"],
  edit: (version: KeptVersion, index: number) => KeptVersion,
): KeptSecret["versions"] {
  const [first, ...rest] = versions;
  return [edit(first, 0), ...rest.map((version, index) => edit(version, index + 1))];
}

function outdated(kits: readonly KitOfSecret[]): readonly KitOfSecret[] {
  return kits.map((kit) => ({ ...kit, outdated: true }));
}

export function newestOf({ versions }: KeptSecret): KeptVersion {
  return versions[versions.length - 1] ?? versions[0];
}

/** When a copy was last checked, with any opener. */
export function newestTime({ rehearsed }: KeptSecret): string | null {
  return [...rehearsed.values()].toSorted().pop() ?? null;
}

export function refuseCancelled(options: CallOptions | undefined): void {
  if (options?.signal?.aborted === true) throw new PortalError("cancelled");
}

/** @throws PortalError `validation_error` with the names of what does not fit. */
export function refuseFields(fields: Readonly<Record<string, boolean>>): void {
  const wrong = Object.keys(fields).filter((name) => fields[name] === true);
  if (wrong.length > 0) throw new PortalError("validation_error", { details: { fields: wrong } });
}

export function isText(text: string | undefined, most = maxTitleLength): boolean {
  return text === undefined || (text !== "" && text.length <= most);
}

/** What is shown for a key. @throws PortalError `recovery_code_unreadable`. */
export function secretOf(shown: Extract<WhatIsShown, { readonly kind: string }>): string {
  return shown.kind === "passkey"
    ? String(shown.prf[0])
    : wordsIn(shown.code, 24, "recovery_code_unreadable").join(" ");
}
