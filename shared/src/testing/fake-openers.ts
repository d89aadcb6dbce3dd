import type { AccountOpener, CallOptions, RecoveryImage, ShownImage, VaultOpeners } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";
import type { PictureShown, WhatIsShown } from "./fake-picture-field.tsx";

/** A recovery code or passkey of the account. */
export interface FakeKey {
  readonly kind: "recovery_code" | "passkey";
  readonly name: string;
  /** What is shown for it: the words, or the first byte of what the passkey gives, as text. */
  readonly secret: string;
  /** Whether it opens what is protected already; true unless told otherwise. */
  readonly covers?: boolean;
  /** Whether the service gives its slot; true unless told otherwise. */
  readonly served?: boolean;
}

export interface FakeOpenersSettings {
  readonly keys?: readonly FakeKey[];
}

/** What the openers need of the fake account. */
export interface AccountOfOpeners {
  readonly enter: (member: `openers.${keyof VaultOpeners}`, options?: CallOptions) => void;
  readonly requireUnlocked: () => void;
  readonly showOpener: (shown: ShownImage | null) => Promise<void>;
  readonly resolve: (shown: ShownImage) => WhatIsShown;
  readonly images: () => readonly RecoveryImage[];
  /** Undefined for a picture that is no opener. */
  readonly imageOf: (shown: PictureShown) => Promise<string | undefined>;
  readonly removeImage: (id: string) => void;
  /** Gives the new one's id. */
  readonly replaceImage: (id: string, shown: PictureShown, name: string) => Promise<string>;
  /** Newest first. */
  readonly secrets: () => readonly { readonly secretId: string; readonly title: string; readonly rehearsedAt: string | null }[];
  readonly nextId: () => string;
  readonly nextTime: () => string;
}

interface KeptKey extends FakeKey, RecoveryImage {
  readonly opens: Set<string>;
}

export interface FakeOpeners {
  readonly openers: VaultOpeners;
  /** Whether what is shown is a code or passkey of the account. `not_this_recovery_code`, `not_this_passkey`. */
  readonly openByKey: (shown: WhatIsShown) => boolean;
  /** What the other device of a link enters: a passkey, that of `shown` where it is here. It opens everything. */
  readonly enterDevice: (shown: ShownImage | null, name: string) => void;
  /** Ids of codes and passkeys that open a secret. */
  readonly keysOf: (secretId: string) => readonly string[];
  /** What was protected just now is sealed to all of them. */
  readonly sealed: (secretId: string) => void;
}

/** Openers of the fake vault, in memory. Images open every secret; codes and passkeys those that they were there for, or {@link VaultOpeners.cover} was called for. */
export function createFakeOpeners({ keys = [] }: FakeOpenersSettings, account: AccountOfOpeners): FakeOpeners {
  const kept: KeptKey[] = [];
  const addKey = (key: FakeKey): KeptKey => {
    const opens = key.covers === false ? [] : account.secrets().map(({ secretId }) => secretId);
    const made = { ...key, id: account.nextId(), createdAt: account.nextTime(), opens: new Set(opens) };
    kept.push(made);
    return made;
  };
  for (const key of keys) addKey(key);
  const idOf = async (shown: ShownImage): Promise<string> => {
    await account.showOpener(shown);
    const made = account.resolve(shown);
    const id = "kind" in made ? kept.find((key) => key.kind === made.kind && key.secret === secretOf(made))?.id : await account.imageOf(made);
    if (id === undefined) throw new PortalError("opener_needed");
    return id;
  };
  const present = (one: RecoveryImage, kind: AccountOpener["kind"], opens: readonly string[], served: boolean): AccountOpener => {
    const only = opens.filter((id) => openersOf(id).length === 1);
    return { id: one.id, kind, name: one.name, createdAt: one.createdAt, rehearsedAt: null, opens: opens.length, onlyWayTo: only, served };
  };
  const openersOf = (secretId: string): string[] => [...account.images().map(({ id }) => id), ...keysOf(secretId)];
  const keysOf = (secretId: string): string[] => kept.filter(({ opens }) => opens.has(secretId)).map(({ id }) => id);

  return {
    keysOf,
    enterDevice: (shown, name) => {
      const made = shown === null ? null : account.resolve(shown);
      addKey({ kind: "passkey", name, secret: made !== null && "kind" in made ? secretOf(made) : "elsewhere" });
    },
    sealed: (secretId) => {
      for (const { opens } of kept) opens.add(secretId);
    },
    openByKey: (shown) => {
      if (!("kind" in shown)) return false;
      const secret = secretOf(shown);
      if (kept.some((key) => key.kind === shown.kind && key.secret === secret)) return true;
      throw new PortalError(shown.kind === "passkey" ? "not_this_passkey" : "not_this_recovery_code");
    },
    openers: Object.freeze<VaultOpeners>({
      list: async (options) => {
        account.enter("openers.list", options);
        account.requireUnlocked();
        const secrets = account.secrets();
        const all = secrets.map(({ secretId }) => secretId);
        return Promise.resolve({
          openers: [
            ...account.images().map((image) => present(image, "image", all, true)),
            ...kept.map((key) => present(key, key.kind, all.filter((id) => key.opens.has(id)), key.served ?? true)),
          ],
          secrets: secrets.map(({ secretId, title, rehearsedAt }) => ({ secretId, title, rehearsedAt, openers: openersOf(secretId), missing: kept.filter(({ opens }) => !opens.has(secretId)).map(({ id }) => id) })),
        });
      },
      newRecoveryCode: () => {
        account.enter("openers.newRecoveryCode");
        return Promise.resolve({ words: fakeWords, identity: "AGE-SECRET-KEY-PQ-1FAKE" });
      },
      add: async ({ shown, name }, opener, options) => {
        account.enter("openers.add", options);
        const made = account.resolve(shown);
        if (!("kind" in made)) throw new PortalError("opener_needed");
        await account.showOpener(opener);
        return { openerId: addKey({ kind: made.kind, name, secret: secretOf(made), covers: false }).id };
      },
      cover: async (opener, options) => {
        account.enter("openers.cover", options);
        await account.showOpener(opener);
        const open = account.secrets().filter(({ secretId }) => kept.some(({ opens }) => !opens.has(secretId)));
        for (const [index, { secretId }] of open.entries()) {
          options?.onProgress?.({ phase: "sealing", done: index, total: open.length });
          for (const { opens } of kept) opens.add(secretId);
        }
        return { covered: open.length, left: [] };
      },
      remove: async (openerId, opener, options) => {
        account.enter("openers.remove", options);
        await account.showOpener(opener);
        const at = kept.findIndex(({ id }) => id === openerId);
        if (at >= 0) kept.splice(at, 1);
        else if (account.images().length < 2) throw new PortalError("last_opener");
        else account.removeImage(openerId);
      },
      recognise: async (opener, options) => {
        account.enter("openers.recognise", options);
        return { openerId: await idOf(opener) };
      },
      rotate: async (shown, options) => {
        account.enter("openers.rotate", options);
        const stay = new Set(await Promise.all(shown.map(idOf)));
        if (!account.images().some(({ id }) => stay.has(id))) throw new PortalError("last_opener");
        const total = account.secrets().length;
        for (let done = 0; done <= total; done++) options?.onProgress?.({ phase: "sealing", done, total });
        const removed = [...account.images(), ...kept].map(({ id }) => id).filter((id) => !stay.has(id));
        for (const id of removed) {
          const at = kept.findIndex((key) => key.id === id);
          if (at >= 0) kept.splice(at, 1);
          else account.removeImage(id);
        }
        return { removed, revoked: [] };
      },
      changeImage: async (opener, { shown, name }, options) => {
        account.enter("openers.changeImage", options);
        const before = await idOf(opener);
        const next = account.resolve(shown);
        if ("kind" in next || kept.some(({ id }) => id === before)) throw new PortalError("opener_needed");
        const known = await account.imageOf(next);
        if (known !== undefined && known !== before) throw new PortalError("picture_resembles_another");
        const total = account.secrets().length;
        for (let done = 0; done <= total; done++) options?.onProgress?.({ phase: "sealing", done, total });
        return { openerId: await account.replaceImage(before, next, name) };
      },
    }),
  };
}

/** 24 different words. */
export const fakeWords = "abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve acid acoustic acquire across act action actor actress actual".split(" ");

function secretOf(shown: Extract<WhatIsShown, { readonly kind: string }>): string {
  return shown.kind === "passkey" ? String(shown.prf[0]) : shown.code.trim().split(/\s+/).join(" ");
}
