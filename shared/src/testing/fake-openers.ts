import { maxFileNameLength, maxOpeners } from "../api/index.ts";
import type { AccountOpener, ShownImage, VaultOpeners } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";
import {
  isText,
  newestOf,
  newestTime,
  refuseFields,
  secretOf,
  type FakeAccount,
  type KeptOpener,
  type KeptSecret,
} from "./fake-account.ts";
import type { Enter } from "./fake-call.ts";
import { textOf } from "./fake-picture-field.tsx";
import { fakeWords } from "./fake-words.ts";

/** What hangs on the account's key, or on what an image opened. */
interface Ending {
  readonly endShares: (ends: (share: { readonly secretId: string }) => boolean) => void;
  /** Gives their titles. */
  readonly revokeRequests: () => readonly string[];
}

/** Openers of the fake vault, in memory. */
export function createFakeOpeners(
  account: FakeAccount,
  enter: Enter,
  { endShares, revokeRequests }: Ending,
): VaultOpeners {
  const { openers, show } = account;
  let codes = 0;
  /** With their contents, the newest first. */
  const openable = (): KeptSecret[] => [...account.secrets.values()].filter(({ dropped }) => !dropped).toReversed();
  const openersOf = (secret: KeptSecret): string[] =>
    openers.map(({ id }) => id).filter((id) => newestOf(secret).openers.includes(id));
  const hasOther = (secret: KeptSecret, ids: readonly string[]): boolean =>
    openersOf(secret).some((id) => !ids.includes(id));

  function present({ id, kind, name, createdAt, served }: KeptOpener): AccountOpener {
    const opens = openable().filter((secret) => openersOf(secret).includes(id));
    const rehearsedAt =
      openable()
        .flatMap(({ rehearsed }) => rehearsed.get(id) ?? [])
        .toSorted()
        .pop() ?? null;
    return {
      id,
      kind,
      name,
      createdAt,
      rehearsedAt,
      opens: opens.length,
      onlyWayTo: opens.filter((secret) => !hasOther(secret, [id])).map(({ secretId }) => secretId),
      served,
    };
  }

  /** @throws PortalError `last_opener`. */
  function refuseLast(going: readonly string[], losing: readonly string[]): void {
    if (!openers.some(({ id, kind }) => kind === "image" && !going.includes(id))) throw new PortalError("last_opener");
    const lost = openable().filter((secret) => openersOf(secret).length > 0 && !hasOther(secret, going));
    if (lost.some(({ secretId }) => !losing.includes(secretId)))
      throw new PortalError("last_opener", { details: { secrets: lost.length } });
  }

  function takeOut(going: readonly string[]): void {
    for (const secret of openable()) {
      if (hasOther(secret, going) && openersOf(secret).some((id) => going.includes(id)))
        account.seal(secret.secretId, (ids) => ids.filter((id) => !going.includes(id)));
    }
    for (const id of going) account.removeOpener(id);
  }

  async function nextPicture(
    shown: ShownImage,
  ): Promise<{ readonly secret: string; readonly passphrase: string | null }> {
    const { picture, passphrase } = account.resolvePicture(shown);
    return { secret: await textOf(picture), passphrase };
  }

  return Object.freeze<VaultOpeners>({
    list: async (options) => {
      enter("openers.list", options);
      if (account.getState().status === "empty") return { openers: [], secrets: [] };
      account.requireUnlocked();
      return Promise.resolve({
        openers: openers.map(present),
        secrets: openable().map((secret) => ({
          secretId: secret.secretId,
          title: secret.title,
          openers: openersOf(secret),
          missing: openers.map(({ id }) => id).filter((id) => !openersOf(secret).includes(id)),
          rehearsedAt: newestTime(secret),
        })),
      });
    },
    newRecoveryCode: () => {
      enter("openers.newRecoveryCode");
      return Promise.resolve({ words: fakeWords(++codes), identity: "AGE-SECRET-KEY-PQ-1FAKE" });
    },
    add: async ({ shown, name }, opener, options) => {
      enter("openers.add", options);
      const made = account.resolve(shown);
      if (!("kind" in made)) throw new PortalError("opener_needed");
      refuseFields({ name: !isText(name, maxFileNameLength) });
      const secret = secretOf(made);
      await account.requireShown(opener);
      const known = openers.find((one) => one.kind === made.kind && one.secret === secret);
      if (known === undefined && openers.length >= maxOpeners) throw new PortalError("limit_reached");
      const openerId = known?.id ?? account.addOpener({ kind: made.kind, name, secret });
      if (made.kind === "passkey") account.takePasskey(openerId);
      return { openerId };
    },
    cover: async (shown, options) => {
      enter("openers.cover", options);
      const { id } = await show(shown);
      return coverAll(account, id, options);
    },
    remove: async (openerId, shown, options) => {
      enter("openers.remove", options);
      const { id } = await show(shown);
      refuseFields({ opener: id === openerId });
      if (!openers.some((one) => one.id === openerId)) throw new PortalError("not_found");
      refuseLast([openerId], options?.losing ?? []);
      takeOut([openerId]);
    },
    recognise: async (shown, options) => {
      enter("openers.recognise", options);
      return { openerId: (await show(shown)).id };
    },
    rotate: async (shown, options) => {
      enter("openers.rotate", options);
      const stay: string[] = [];
      for (const one of shown) stay.push((await show(one)).id);
      const removed = openers.map(({ id }) => id).filter((id) => !stay.includes(id));
      refuseLast(removed, options?.losing ?? []);
      const secrets = openable();
      for (let done = 0; done <= secrets.length; done++)
        options?.onProgress?.({ phase: "sealing", done, total: secrets.length });
      takeOut(removed);
      for (const { secretId, kits, rev } of openable())
        account.change(secretId, { rev: rev + 1, kits: kits.map((kit) => ({ ...kit, outdated: true })) });
      return { removed, revoked: revokeRequests() };
    },
    changeImage: async (shown, { shown: next, name }, options) => {
      enter("openers.changeImage", options);
      account.resolvePicture(shown);
      const { secret, passphrase } = await nextPicture(next);
      refuseFields({ name: !isText(name, maxFileNameLength) });
      const before = await show(shown);
      if (openers.some((one) => one.kind === "image" && one.secret === secret && one.id !== before.id))
        throw new PortalError("picture_resembles_another");
      const secrets = openable().filter((one) => openersOf(one).includes(before.id));
      for (let done = 0; done <= secrets.length; done++)
        options?.onProgress?.({ phase: "sealing", done, total: secrets.length });
      const openerId = account.addOpener({ kind: "image", name, secret, passphrase });
      account.removeOpener(before.id);
      for (const { secretId } of secrets)
        account.seal(secretId, (ids) => ids.map((id) => (id === before.id ? openerId : id)), "all");
      const small = secrets.filter((one) => !newestOf(one).large).map(({ secretId }) => secretId);
      endShares((share) => small.includes(share.secretId));
      return { openerId };
    },
  });
}

/** Seals what this opener opens to all openers. */
export function coverAll(
  account: FakeAccount,
  openerId: string,
  options: Parameters<VaultOpeners["cover"]>[1],
): { readonly covered: number; readonly left: readonly string[] } {
  const all = account.openers.map(({ id }) => id);
  const open = [...account.secrets.values()].filter(
    (secret) => !secret.dropped && all.some((id) => !newestOf(secret).openers.includes(id)),
  );
  const left: string[] = [];
  for (const [done, secret] of open.entries()) {
    options?.onProgress?.({ phase: "sealing", done, total: open.length });
    if (newestOf(secret).openers.includes(openerId)) account.seal(secret.secretId, () => all);
    else left.push(secret.secretId);
  }
  options?.onProgress?.({ phase: "sealing", done: open.length, total: open.length });
  return { covered: open.length - left.length, left };
}
