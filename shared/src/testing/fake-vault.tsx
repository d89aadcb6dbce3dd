import { useId } from "react";

import type {
  CallOptions,
  ContentKind,
  DeviceKind,
  PictureFieldProps,
  PictureVerdict,
  RecoveredSecret,
  RecoveryImage,
  SecretRow,
  ShownImage,
  Vault,
  VaultState,
} from "../contract/index.ts";
import { PortalError, type ErrorCode } from "../errors/index.ts";

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
}

export interface FakeVaultSettings {
  readonly images?: readonly FakeImage[];
  readonly secrets?: readonly FakeSecret[];
  /** Whether this device holds the key at the start; true unless told otherwise. */
  readonly unlocked?: boolean;
  readonly device?: DeviceKind | null;
  /** What {@link Vault.examine} says of a picture, by its text; green otherwise. */
  readonly verdicts?: Readonly<Record<string, Partial<PictureVerdict>>>;
}

/** Members that can be told to fail. */
type Failing = "refresh" | "list" | "examine" | "images" | "protect" | "unlock" | "recover" | "answerDevice" | "setFavorite" | "trash" | "restore";

export interface FakeVault extends Vault {
  /** From now on the member rejects so; null ends it. */
  readonly failWith: (member: Failing, code: ErrorCode | null) => void;
  /** Every call by name, in order. */
  readonly calls: readonly string[];
  /** How often listeners are attached now: 0 when every screen cleaned up. */
  readonly listeners: () => number;
}

/** A picture for tests: its text stands for what is seen on it. */
export function picture(text: string, name = `${text}.jpg`): File {
  return new File([text], name, { type: "image/jpeg" });
}

interface Kept extends Required<Omit<FakeSecret, "deleted">> {
  readonly secretId: string;
  readonly version: number;
  readonly deletedAt: string | null;
  readonly createdAt: string;
}

const start = Date.parse("2026-11-01T09:00:00.000Z");

/** A well-behaved vault in memory: same members, same errors as the real one, no sealing. */
export function createFakeVault(settings: FakeVaultSettings = {}): FakeVault {
  const failures = new Map<Failing, ErrorCode>();
  const listeners = new Set<() => void>();
  const calls: string[] = [];
  const book: (FakeImage & RecoveryImage)[] = [];
  const kept = new Map<string, Kept>();
  let made = 0;
  let gone = false;

  const nextId = () => `01890a5d-ac96-7000-8000-${(++made).toString(16).padStart(12, "0")}`;
  const nextTime = () => new Date(start + made * 86_400_000).toISOString();
  const addImage = (image: FakeImage): RecoveryImage => {
    const added = { ...image, id: nextId(), createdAt: nextTime() };
    book.push(added);
    return added;
  };
  const addSecret = (secret: FakeSecret): Kept => {
    const contentKind = secret.contentKind ?? "text";
    const added: Kept = {
      secretId: nextId(),
      version: 1,
      title: secret.title,
      content: secret.content,
      tags: secret.tags ?? [],
      contentKind,
      name: secret.name ?? "secret.txt",
      mime: secret.mime ?? "text/plain",
      favorite: secret.favorite ?? false,
      createdAt: nextTime(),
      deletedAt: secret.deleted === true ? nextTime() : null,
    };
    kept.set(added.secretId, added);
    return added;
  };
  for (const image of settings.images ?? []) addImage(image);
  for (const secret of settings.secrets ?? []) addSecret(secret);
  if (kept.size > 0 && book.length === 0) addImage({ name: "garden", picture: "garden" });

  let state: VaultState = book.length === 0 ? { status: "empty" } : settings.unlocked === false ? { status: "locked" } : { status: "unlocked", device: settings.device ?? "own" };
  const become = (next: VaultState) => {
    state = next;
    for (const listener of [...listeners]) listener();
  };

  const enter = (member: Failing | "lock" | "signOut", options?: CallOptions) => {
    calls.push(member);
    if (gone) throw new PortalError("vault_unavailable");
    if (options?.signal?.aborted === true) throw new PortalError("cancelled");
    const code = member === "lock" || member === "signOut" ? undefined : failures.get(member);
    if (code !== undefined) throw new PortalError(code);
  };
  const require = (secretId: string): Kept => {
    const secret = kept.get(secretId);
    if (secret === undefined) throw new PortalError("not_found");
    return secret;
  };
  const open = async (shown: ShownImage): Promise<void> => {
    if (book.length === 0) throw new PortalError("no_keyring");
    const text = await textOf(shown.picture);
    const same = book.filter((image) => image.picture === text);
    if (same.some((image) => (image.passphrase ?? null) === shown.passphrase)) return;
    throw new PortalError(same.some((image) => image.passphrase !== undefined) || shown.passphrase !== null ? "not_this_picture_or_passphrase" : "not_this_picture");
  };
  const unlock = () => {
    if (state.status !== "unlocked") become({ status: "unlocked", device: settings.device ?? null });
  };

  const fake: FakeVault = {
    calls,
    listeners: () => listeners.size,
    failWith: (member, code) => {
      if (code === null) failures.delete(member);
      else failures.set(member, code);
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
      return Promise.resolve([...kept.values()].map((secret) => rowOf(secret, locked, book)));
    },
    examine: async (blob, options) => {
      enter("examine", options);
      const text = await textOf(blob);
      const image = state.status === "unlocked" ? book.find((each) => each.picture === text) : undefined;
      return {
        level: "green",
        reasons: [],
        width: 4000,
        height: 3000,
        known: image === undefined ? null : { kind: "same", image: { id: image.id, name: image.name, createdAt: image.createdAt } },
        ...settings.verdicts?.[text],
      };
    },
    images: async () => {
      enter("images");
      return Promise.resolve(state.status === "unlocked" ? book.map(({ id, name, createdAt }) => ({ id, name, createdAt })) : []);
    },
    protect: async (request, options) => {
      enter("protect", options);
      if (state.status === "locked") throw new PortalError("vault_locked");
      const { protection } = request;
      if (protection.kind === "picture") {
        const text = await textOf(protection.shown.picture);
        if (!book.some((image) => image.picture === text)) {
          const { passphrase } = protection.shown;
          addImage({ name: protection.name, picture: text, ...(passphrase === null ? {} : { passphrase }) });
        }
      } else if (book.length === 0) {
        throw new PortalError("opener_needed");
      }
      for (const phase of ["picture", "sealing", "sending"] as const) options?.onProgress?.({ phase, done: 1, total: 1 });
      const { secretId, version } = addSecret({ ...request, content: await textOf(request.content) });
      if (state.status === "empty") become({ status: "unlocked", device: settings.device ?? null });
      else become({ ...state });
      return { secretId, version };
    },
    unlock: async (shown, options) => {
      enter("unlock", options);
      await open(shown);
      unlock();
    },
    recover: async (secretId, shown, options) => {
      enter("recover", options);
      const secret = require(secretId);
      await open(shown);
      unlock();
      return recoveredOf(secret);
    },
    answerDevice: async (device) => {
      enter("answerDevice");
      if (state.status === "unlocked") become({ status: "unlocked", device });
      return Promise.resolve();
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
      if (state.status === "unlocked") become({ status: "locked" });
      return Promise.resolve();
    },
    signOut: async () => {
      enter("signOut");
      become({ status: "unknown" });
      gone = true;
      return Promise.resolve();
    },
    acceptOlderState: () => Promise.resolve(),
    PictureField: FakePictureField,
  };
  return Object.freeze(fake);
}

function rowOf(secret: Kept, locked: boolean, book: readonly RecoveryImage[]): SecretRow {
  const size = new TextEncoder().encode(secret.content).length;
  return {
    secretId: secret.secretId,
    version: secret.version,
    favorite: secret.favorite,
    sealedSize: size + 2048,
    createdAt: secret.createdAt,
    updatedAt: secret.createdAt,
    deletedAt: secret.deletedAt,
    label: locked
      ? null
      : {
          title: secret.title,
          tags: secret.tags,
          contentKind: secret.contentKind,
          name: secret.name,
          size,
          openers: book.map(({ id }) => id),
          rehearsedAt: null,
        },
  };
}

function recoveredOf(secret: Kept): RecoveredSecret {
  const content = Uint8Array.from(new TextEncoder().encode(secret.content));
  let away = false;
  return {
    secretId: secret.secretId,
    version: secret.version,
    title: secret.title,
    tags: secret.tags,
    contentKind: secret.contentKind,
    name: secret.name,
    mime: secret.mime,
    content,
    author: "verified",
    exportAge: () =>
      away ? Promise.reject(new PortalError("vault_locked")) : Promise.resolve({ sealed: Uint8Array.from(content), identity: "AGE-SECRET-KEY-PQ-1FAKE", size: content.length }),
    putAway: () => {
      away = true;
    },
  };
}

/** Chooses a file and takes a passphrase, as the real one does, without judging. */
function FakePictureField({ value, onChange, disabled = false, error = null }: PictureFieldProps) {
  const id = useId();
  return (
    <fieldset disabled={disabled}>
      <legend>Picture</legend>
      <label htmlFor={`${id}-file`}>Choose a picture</label>
      <input
        id={`${id}-file`}
        type="file"
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          onChange(file === undefined ? null : { picture: file, passphrase: value?.passphrase ?? null });
        }}
      />
      <label htmlFor={`${id}-pass`}>Passphrase</label>
      <input
        id={`${id}-pass`}
        type="password"
        value={value?.passphrase ?? ""}
        onChange={({ currentTarget }) => {
          if (value !== null) onChange({ ...value, passphrase: currentTarget.value === "" ? null : currentTarget.value });
        }}
      />
      {error !== null && <p role="alert">{error}</p>}
    </fieldset>
  );
}

/** jsdom's Blob has no `text()`. */
function textOf(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => {
      resolve(typeof reader.result === "string" ? reader.result : "");
    };
    reader.onerror = () => {
      reject(new PortalError("picture_unreadable", { cause: reader.error }));
    };
    reader.readAsText(blob);
  });
}
