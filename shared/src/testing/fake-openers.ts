import { maxFileNameLength, maxOpeners } from "../api/index.ts";
import type { AccountOpener, OpenerHandle, VaultOpeners } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";
import {
  isValidText,
  getNewestVersion,
  getLastCopyCheck,
  throwIfInvalid,
  getKeySecret,
  type FakeAccount,
  type InMemoryOpener,
  type InMemorySecret,
} from "./fake-account.ts";
import type { RecordCall } from "./fake-call.ts";
import { readBlobText } from "./fake-picture-field.tsx";

/** Callbacks for changes of the account key or of an image. */
interface KeyChangeCallbacks {
  readonly endShares: (shouldEnd: (share: { readonly secretId: string }) => boolean) => void;
  /** Revokes unanswered requests and returns their titles. */
  readonly revokeRequests: () => readonly string[];
}

export function createFakeOpeners(
  account: FakeAccount,
  recordCall: RecordCall,
  { endShares, revokeRequests }: KeyChangeCallbacks,
): VaultOpeners {
  const { openers, presentHandle } = account;
  /** Secrets whose contents exist, newest first. */
  const listOpenable = (): InMemorySecret[] =>
    [...account.secrets.values()].filter(({ dropped }) => !dropped).toReversed();
  const findOpenerIds = (secret: InMemorySecret): string[] =>
    openers.map(({ id }) => id).filter((id) => getNewestVersion(secret).openers.includes(id));
  const hasOtherOpener = (secret: InMemorySecret, ids: readonly string[]): boolean =>
    findOpenerIds(secret).some((id) => !ids.includes(id));

  function toAccountOpener({ id, kind, name, createdAt, hasSlot }: InMemoryOpener): AccountOpener {
    const openableSecrets = listOpenable().filter((secret) => findOpenerIds(secret).includes(id));
    const copyCheckedAt =
      listOpenable()
        .flatMap(({ copyChecks }) => copyChecks.get(id) ?? [])
        .toSorted()
        .pop() ?? null;
    return {
      id,
      kind,
      name,
      createdAt,
      copyCheckedAt,
      secretCount: openableSecrets.length,
      soleOpenerOf: openableSecrets.filter((secret) => !hasOtherOpener(secret, [id])).map(({ secretId }) => secretId),
      hasSlot,
    };
  }

  /** @throws PortalError `last_opener`. */
  function throwIfLastOpener(removedIds: readonly string[], acceptedLosses: readonly string[]): void {
    if (!openers.some(({ id, kind }) => kind === "image" && !removedIds.includes(id)))
      throw new PortalError("last_opener");
    const lostSecrets = listOpenable().filter(
      (secret) => findOpenerIds(secret).length > 0 && !hasOtherOpener(secret, removedIds),
    );
    if (lostSecrets.some(({ secretId }) => !acceptedLosses.includes(secretId)))
      throw new PortalError("last_opener", { details: { secrets: lostSecrets.length } });
  }

  function removeOpeners(removedIds: readonly string[]): void {
    for (const secret of listOpenable()) {
      if (hasOtherOpener(secret, removedIds) && findOpenerIds(secret).some((id) => removedIds.includes(id)))
        account.reseal(secret.secretId, (ids) => ids.filter((id) => !removedIds.includes(id)));
    }
    for (const id of removedIds) account.removeOpener(id);
  }

  async function readPicture(
    handle: OpenerHandle,
  ): Promise<{ readonly pictureText: string; readonly passphrase: string | null }> {
    const { picture, passphrase } = account.resolvePicture(handle);
    return { pictureText: await readBlobText(picture), passphrase };
  }

  return Object.freeze<VaultOpeners>({
    list: async (options) => {
      recordCall("openers.list", options);
      if (account.getState().status === "empty") return { openers: [], secrets: [] };
      account.requireUnlocked();
      return Promise.resolve({
        openers: openers.map(toAccountOpener),
        secrets: listOpenable().map((secret) => ({
          secretId: secret.secretId,
          title: secret.title,
          openerIds: findOpenerIds(secret),
          missingOpenerIds: openers.map(({ id }) => id).filter((id) => !findOpenerIds(secret).includes(id)),
          copyCheckedAt: getLastCopyCheck(secret),
        })),
      });
    },
    add: async ({ handle, name }, opener, options) => {
      recordCall("openers.add", options);
      const presentedOpener = account.resolve(handle);
      if (!("kind" in presentedOpener)) throw new PortalError("opener_needed");
      throwIfInvalid({ name: !isValidText(name, maxFileNameLength) });
      const credential = getKeySecret(presentedOpener);
      await account.requirePresented(opener);
      const existing = openers.find(
        (candidate) => candidate.kind === presentedOpener.kind && candidate.credential === credential,
      );
      if (existing === undefined && openers.length >= maxOpeners) throw new PortalError("limit_reached");
      const openerId = existing?.id ?? account.addOpener({ kind: presentedOpener.kind, name, credential });
      if (presentedOpener.kind === "passkey") account.setDevicePasskey(openerId);
      return { openerId };
    },
    resealForAllOpeners: async (handle, options) => {
      recordCall("openers.resealForAllOpeners", options);
      const { id } = await presentHandle(handle);
      return resealAll(account, id, options);
    },
    remove: async (openerId, handle, options) => {
      recordCall("openers.remove", options);
      const { id } = await presentHandle(handle);
      throwIfInvalid({ opener: id === openerId });
      if (!openers.some((candidate) => candidate.id === openerId)) throw new PortalError("not_found");
      throwIfLastOpener([openerId], options?.acceptedLosses ?? []);
      removeOpeners([openerId]);
    },
    recognise: async (handle, options) => {
      recordCall("openers.recognise", options);
      return { openerId: (await presentHandle(handle)).id };
    },
    rotate: async (handles, options) => {
      recordCall("openers.rotate", options);
      const remainingIds: string[] = [];
      for (const handle of handles) remainingIds.push((await presentHandle(handle)).id);
      const removedIds = openers.map(({ id }) => id).filter((id) => !remainingIds.includes(id));
      throwIfLastOpener(removedIds, options?.acceptedLosses ?? []);
      const secrets = listOpenable();
      for (let done = 0; done <= secrets.length; done++)
        options?.onProgress?.({ phase: "sealing", done, total: secrets.length });
      removeOpeners(removedIds);
      for (const { secretId, kits, rev } of listOpenable())
        account.updateSecret(secretId, { rev: rev + 1, kits: kits.map((kit) => ({ ...kit, outdated: true })) });
      return { removedOpenerIds: removedIds, revokedRequestTitles: revokeRequests() };
    },
    replaceImage: async (handle, { handle: nextHandle, name }, options) => {
      recordCall("openers.replaceImage", options);
      account.resolvePicture(handle);
      const { pictureText, passphrase } = await readPicture(nextHandle);
      throwIfInvalid({ name: !isValidText(name, maxFileNameLength) });
      const previous = await presentHandle(handle);
      if (
        openers.some(
          (candidate) =>
            candidate.kind === "image" && candidate.credential === pictureText && candidate.id !== previous.id,
        )
      )
        throw new PortalError("picture_resembles_another");
      const secrets = listOpenable().filter((candidate) => findOpenerIds(candidate).includes(previous.id));
      for (let done = 0; done <= secrets.length; done++)
        options?.onProgress?.({ phase: "sealing", done, total: secrets.length });
      const openerId = account.addOpener({ kind: "image", name, credential: pictureText, passphrase });
      account.removeOpener(previous.id);
      for (const { secretId } of secrets)
        account.reseal(secretId, (ids) => ids.map((id) => (id === previous.id ? openerId : id)), "all");
      const resealedIds = secrets
        .filter((candidate) => !getNewestVersion(candidate).large)
        .map(({ secretId }) => secretId);
      endShares((share) => resealedIds.includes(share.secretId));
      return { openerId };
    },
  });
}

/** Re-seals each secret that this opener opens to all openers. */
export function resealAll(
  account: FakeAccount,
  openerId: string,
  options: Parameters<VaultOpeners["resealForAllOpeners"]>[1],
): { readonly resealedCount: number; readonly skippedIds: readonly string[] } {
  const openerIds = account.openers.map(({ id }) => id);
  const pendingSecrets = [...account.secrets.values()].filter(
    (secret) => !secret.dropped && openerIds.some((id) => !getNewestVersion(secret).openers.includes(id)),
  );
  const skippedIds: string[] = [];
  for (const [done, secret] of pendingSecrets.entries()) {
    options?.onProgress?.({ phase: "sealing", done, total: pendingSecrets.length });
    if (getNewestVersion(secret).openers.includes(openerId)) account.reseal(secret.secretId, () => openerIds);
    else skippedIds.push(secret.secretId);
  }
  options?.onProgress?.({ phase: "sealing", done: pendingSecrets.length, total: pendingSecrets.length });
  return { resealedCount: pendingSecrets.length - skippedIds.length, skippedIds };
}
