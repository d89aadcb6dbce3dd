import type { OpenedContent, Vault } from "@relicario/shared/contract";

import { admitDevice, inspectRequestingDevice } from "../device-links/admit-device.ts";
import { joinDevice, offerDevice } from "../device-links/join-device.ts";
import { checkCopy } from "../operations/check-copy.ts";
import { createKit, type KitDeps } from "../operations/create-kit.ts";
import { listImages } from "../operations/examine.ts";
import { exportSecrets } from "../operations/export-secrets.ts";
import { confirmTrash, restoreFromTrash, setFavorite, moveToTrash } from "../operations/favorite-and-trash.ts";
import { readHistory } from "../operations/history.ts";
import { openSecret } from "../operations/open-secret.ts";
import { addOpener, listOpeners } from "../operations/openers.ts";
import { purge } from "../operations/purge.ts";
import { replaceImage } from "../operations/replace-image.ts";
import { removeOpener, resealForAllOpeners } from "../operations/reseal-for-all-openers.ts";
import { listUploads, type UploadDeps } from "../operations/resumable-uploads.ts";
import { recogniseOpenerId, rotateAccountKey } from "../operations/rotate.ts";
import { setDeviceKind } from "../operations/set-device-kind.ts";
import { unlock } from "../openers/unlock.ts";
import { listVersions, removeVersions, restoreVersion } from "../operations/versions.ts";
import { findPerson, listPeople, pinPerson, readOwnWords, setBlocked, setCompared } from "../people/people.ts";
import {
  requirePresented,
  requirePresentedKey,
  requirePresentedOrNull,
  requirePresentedPicture,
} from "../rpc/presented-opener.ts";
import { listReceivedShares, openReceived } from "../received/received-shares.ts";
import { createRequest, revealRequestLink } from "../requests/create-request.ts";
import { dropRequest, markCollected } from "../requests/end-requests.ts";
import { listRequests } from "../requests/list-requests.ts";
import { openAnswer } from "../requests/open-answer.ts";
import { changeShare, revealShareLink, revokeShare, updateShareContent } from "../shares/change-shares.ts";
import { createShare } from "../shares/create-share.ts";
import { listShares, listSharesOfSecret } from "../shares/list-shares.ts";
import type { OpenedContentStore, TransferredContent } from "../transfer/opened-content-store.ts";
import { createPrivateSink } from "../transfer/sinks.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { RefreshedList } from "./refreshed-list.ts";

export interface OperationDeps {
  readonly uploads: UploadDeps;
  readonly kitFile: KitDeps["loadReleaseFile"];
  readonly refreshedList: RefreshedList;
  readonly openedContents: OpenedContentStore;
  /** Origin of the portal, without a trailing slash; prefix of links. */
  readonly origin: string;
}

/**
 * Operations for the contract's members: they take the vault first and return transferable
 * contents.
 */
type OperationsFor<Contract> = {
  readonly [Name in keyof Contract]?: Contract[Name] extends (...args: infer Arguments) => Promise<infer Result>
    ? (
        vault: VaultSession,
        ...args: Arguments
      ) => Promise<Result extends OpenedContent ? TransferredContent<Result> : Result>
    : Required<OperationsFor<Contract[Name]>>;
};

export type VaultOperations = ReturnType<typeof createVaultOperations>;

/**
 * Lists the operations by their names in the contract. The page offers each of them; members that
 * need code in the page are in `page/vault-client.ts`.
 *
 * - `requirePresented` and similar resolve handles.
 * - Keys of opened contents stay here: `openedContents.add` returns the message to the page, which
 *   implements the contract's members for it.
 * - Operations return links as paths; `withOrigin` completes them.
 */
export function createVaultOperations({ uploads, kitFile, refreshedList, openedContents, origin }: OperationDeps) {
  const exportDeps = { range: uploads.calls.range, retryPolicy: uploads.retryPolicy, openSink: createPrivateSink };
  const kitDeps: KitDeps = { ...exportDeps, loadReleaseFile: kitFile };
  const addOpenedContent = openedContents.add;
  const withOrigin = (path: string): string => `${origin}${path}`;

  return {
    refresh: refreshedList.refresh,
    listImages,
    unlock: async (vault, opener, options) => {
      (await unlock(vault, requirePresented(opener), options)).opener.wipe();
    },
    openSecret: async (vault, secretId, opener, options) =>
      addOpenedContent(await openSecret(vault, secretId, requirePresentedOrNull(opener), options)),
    checkCopy: (vault, secretId, opener, options) => checkCopy(vault, secretId, requirePresented(opener), options),
    setFavorite,
    trash: moveToTrash,
    confirmTrash,
    restore: restoreFromTrash,
    purge,
    setDeviceKind,
    getHistory: readHistory,
    listVersions,
    removeVersions,
    restoreVersion: (vault, secretId, version, opener, options) =>
      restoreVersion(vault, secretId, version, requirePresentedOrNull(opener), options),
    exportSecrets: (vault, secretIds, opener, options) =>
      exportSecrets(vault, exportDeps, secretIds, requirePresented(opener), options),
    createKit: (vault, secretIds, opener, options) =>
      createKit(vault, kitDeps, secretIds, requirePresentedPicture(opener), options),
    listUploads: (vault) => listUploads(vault, uploads),
    openers: {
      list: listOpeners,
      add: (vault, { handle, name }, opener, options) =>
        addOpener(vault, { key: requirePresentedKey(handle), name }, requirePresentedOrNull(opener), options),
      resealForAllOpeners: (vault, opener, options) => resealForAllOpeners(vault, requirePresented(opener), options),
      remove: (vault, openerId, opener, options) => removeOpener(vault, openerId, requirePresented(opener), options),
      recognise: (vault, opener, options) => recogniseOpenerId(vault, requirePresented(opener), options),
      rotate: (vault, openers, options) => rotateAccountKey(vault, openers.map(requirePresented), options),
      replaceImage: (vault, opener, { handle, name }, options) => {
        const presentedPicture = requirePresentedPicture(opener);
        return replaceImage(
          vault,
          presentedPicture,
          { presentedPicture: requirePresentedPicture(handle), name },
          options,
        );
      },
    },
    deviceLinks: {
      offer: (vault, { handle, name }, options) =>
        offerDevice(vault, { key: requirePresentedKey(handle), name }, options),
      join: (vault, offer, handle, options) => joinDevice(vault, offer, requirePresentedKey(handle), options),
      inspect: inspectRequestingDevice,
      approve: (vault, code, opener, options) => admitDevice(vault, code, requirePresented(opener), options),
    },
    shares: {
      create: async (vault, request, opener, options) => {
        const picture = request.picture === null ? null : requirePresentedPicture(request.picture).picture;
        const { shareId, link } = await createShare(
          vault,
          { ...request, picture },
          requirePresentedOrNull(opener),
          options,
        );
        return { shareId, link: link === null ? null : withOrigin(link) };
      },
      list: listShares,
      listForSecret: listSharesOfSecret,
      getLink: async (vault, shareId, opener, options) =>
        withOrigin(await revealShareLink(vault, shareId, requirePresentedOrNull(opener), options)),
      change: changeShare,
      updateContent: (vault, shareId, opener, options) =>
        updateShareContent(vault, shareId, requirePresentedOrNull(opener), options),
      revoke: revokeShare,
    },
    people: {
      find: findPerson,
      list: listPeople,
      pin: pinPerson,
      setCompared,
      setBlocked,
      getOwnSafetyWords: readOwnWords,
    },
    received: {
      list: listReceivedShares,
      open: async (vault, shareId, opener, options) =>
        addOpenedContent(await openReceived(vault, shareId, requirePresentedOrNull(opener), options)),
    },
    requests: {
      create: async (vault, request, opener, options) => {
        const { requestId, link } = await createRequest(vault, request, requirePresentedOrNull(opener), options);
        return { requestId, link: withOrigin(link) };
      },
      list: listRequests,
      getLink: async (vault, requestId, opener, options) =>
        withOrigin(await revealRequestLink(vault, requestId, requirePresentedOrNull(opener), options)),
      open: async (vault, requestId, opener, options) =>
        addOpenedContent(await openAnswer(vault, requestId, requirePresentedOrNull(opener), options)),
      collect: markCollected,
      drop: dropRequest,
    },
  } satisfies OperationsFor<Vault>;
}
