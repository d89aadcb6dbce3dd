import type { Engine } from "@relicario/engine";
import { createCallClient } from "@relicario/engine/worker-calls";
import type {
  AgeFile,
  DeviceAccount,
  KitOptions,
  ListOptions,
  OpenedAnswer,
  OpenedShare,
  OpenedSecret,
  OpenSecretOptions,
  VaultState,
} from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { replaceImage } from "../operations/replace-image.ts";
import { resealForAllOpeners, removeOpener } from "../operations/reseal-for-all-openers.ts";
import { examine, listImages } from "../operations/examine.ts";
import { exportSecrets } from "../operations/export-secrets.ts";
import { restore, setFavorite, trash } from "../operations/favorite-and-trash.ts";
import { list } from "../operations/list.ts";
import { createKit, type KitDeps } from "../operations/create-kit.ts";
import { addOpener, listOpeners, generateRecoveryCode } from "../operations/openers.ts";
import { protect } from "../operations/protect.ts";
import { purge } from "../operations/purge.ts";
import { openSecret } from "../operations/open-secret.ts";
import { recognise, rotate } from "../operations/rotate.ts";
import { checkCopy } from "../operations/check-copy.ts";
import { resetAccount } from "../operations/reset-account.ts";
import { setDeviceKind, unlock } from "../operations/unlock.ts";
import { update } from "../operations/update.ts";
import {
  beginUpload,
  discardUpload,
  finishUpload,
  restartUpload,
  listUploads,
  type Protection,
  type UploadPlan,
  type UploadDeps,
} from "../operations/resumable-uploads.ts";
import { listVersions, removeVersions, restoreVersion } from "../operations/versions.ts";
import { openDevice, type Device } from "../device/device.ts";
import { admitDevice, inspectRequestingDevice } from "../device-links/admit-device.ts";
import { joinDevice, offerDevice } from "../device-links/join-device.ts";
import { findPerson, listPeople, readOwnWords, pinPerson, setBlocked, setCompared } from "../people/people.ts";
import { openReceived, listReceivedShares } from "../received/received-shares.ts";
import { createRequest, revealRequestLink } from "../requests/create-request.ts";
import { listRequests } from "../requests/list-requests.ts";
import { openAnswer } from "../requests/open-answer.ts";
import { dropRequest, markCollected } from "../requests/end-requests.ts";
import { compareImport } from "../imports/compare-import.ts";
import { importSecrets } from "../imports/import-secrets.ts";
import { createService } from "../service/service.ts";
import { changeShare, revokeShare, revealShareLink, updateShareContent } from "../shares/change-shares.ts";
import { createShare } from "../shares/create-share.ts";
import { listShares, listSharesOfSecret } from "../shares/list-shares.ts";
import { loadCachedRows } from "../operation-parts/read-account.ts";
import { acceptOlderState, isLatest, readKeyring, type KeyringView } from "../operation-parts/read-keyring.ts";
import { openUploadRecords, uploadLockName } from "../transfer/upload-records.ts";
import { createPrivateSink, sweepPrivateFiles } from "../transfer/sinks.ts";
import { browserRetryPolicy } from "../transfer/retry-until-success.ts";
import { createTransferCalls } from "../transfer/upload-calls.ts";
import { openVaultContext, type OperationOptions, type VaultContext } from "../vault-context.ts";
import { createLazyEngine } from "./lazy-engine.ts";
import {
  createOpenedContentStore,
  type TransferredContent,
  type SealedContentKey,
} from "../transfer/opened-content-store.ts";
import { createHttpOverPage, type PageHttp } from "../rpc/page-http.ts";
import type { PresentedOpener, PresentedPicture } from "../presented-opener.ts";

export interface VaultSettings extends DeviceAccount {
  readonly userId: string;
  /** Starts locked, whatever the device keeps. */
  readonly locked: boolean;
}

/** What the page answers to the vault's worker. */
export interface VaultPage extends PageHttp {
  /**
   * Called before each call to the engine; its port is connected when this is answered.
   * `vault_unavailable`.
   */
  readonly startEngine: () => Promise<void>;
  /** Bytes of a file of the release that goes into kits. `vault_unavailable`. */
  readonly kitFile: KitDeps["file"];
  /** Called after each change of the state. */
  readonly onStateChange: (state: VaultState) => void;
}

/** An opened secret as it crosses to the page: its age file stays behind, under `openedId`. */
export type TransferredSecret = Omit<OpenedSecret, "save" | "exportAgeFile" | "dispose"> & {
  readonly openedId: string;
};

/**
 * What this worker keeps of an opened content: the age file of a secret that is held, null of any
 * other.
 */
interface OpenedContentEntry {
  readonly ageFile: AgeFile | null;
  readonly sealed: SealedContentKey;
}

interface StartedVault {
  readonly vault: VaultContext;
  readonly uploadDeps: UploadDeps;
  readonly kitFile: KitDeps["file"];
}

/** How long a keyring that was read counts as the present one for a list. */
const refreshedViewLifetimeMs = 5_000;

/**
 * What the vault's worker offers. Each act of the vault is one line here; the page takes its types
 * from this.
 */
export type VaultWorkerApi = ReturnType<typeof createVaultWorkerApi>;

/**
 * @param connectEngine how the worker reaches the engine on a port; it and the device are seams for
 *   tests
 */
export function createVaultWorkerApi(
  connectEngine: (port: MessagePort) => Engine,
  openAccountDevice: (account: DeviceAccount) => Promise<Device> = openDevice,
) {
  let started: StartedVault | null = null;
  let lastNotification: Promise<unknown> = Promise.resolve();
  /** What `refresh` read, for the list that follows it; and when, by the worker's own clock. */
  let lastRefresh: { readonly view: KeyringView; readonly at: number } | null = null;
  const openedContents = createOpenedContentStore<OpenedContentEntry>(() => requireStarted().uploadDeps.calls);

  function requireStarted(): StartedVault {
    if (started === null) throw new PortalError("vault_unavailable");
    return started;
  }

  /**
   * An act on the vault of this worker. The page hears of a new state before the act is answered.
   */
  function operation<Arguments extends readonly unknown[], Result>(
    run: (vault: VaultContext, ...args: Arguments) => Promise<Result>,
  ): (...args: Arguments) => Promise<Result> {
    return async (...args) => {
      try {
        return await run(requireStarted().vault, ...args);
      } finally {
        await lastNotification;
      }
    };
  }

  return {
    /** Answers when the worker runs. */
    ping: () => undefined,

    /** Once, before any other call. The page answers at `pagePort`, the engine at `enginePort`. */
    start: async (
      { userId, locked, ...account }: VaultSettings,
      pagePort: MessagePort,
      enginePort: MessagePort,
    ): Promise<void> => {
      const page = createCallClient<VaultPage>(pagePort);
      const http = createHttpOverPage(page);
      const device = await openAccountDevice(account);
      sweepPrivateFiles().catch(() => undefined); // tried again with the next page
      const vault = await openVaultContext({
        userId,
        locked,
        service: createService(http),
        engine: createLazyEngine(page.startEngine, connectEngine(enginePort)),
        device,
        onStateChange: (state) => {
          // a listener of the page that throws is no failure of the act
          lastNotification = page.onStateChange(state).catch(() => undefined);
        },
      });
      started = {
        vault,
        uploadDeps: {
          records: createLazyRecords(device.name),
          calls: createTransferCalls(http),
          getRunningIds: findRunningUploads,
          retryPolicy: browserRetryPolicy,
        },
        kitFile: page.kitFile,
      };
    },

    refresh: operation(async (vault) => {
      loadCachedRows(vault).catch(() => undefined); // the list follows, and says what is wrong
      lastRefresh = null;
      const view = await readKeyring(vault);
      lastRefresh = view === null ? null : { view, at: performance.now() };
      return vault.getState();
    }),
    /**
     * Every row goes to `onRows`, the newest first, before this is answered; see {@link
     * Vault.list}.
     */
    list: operation(async (vault, options: ListOptions) => {
      const recentView =
        lastRefresh !== null && performance.now() - lastRefresh.at < refreshedViewLifetimeMs ? lastRefresh.view : null;
      lastRefresh = null;
      await list(vault, options, recentView !== null && (await isLatest(vault, recentView)) ? recentView : undefined);
    }),
    listImages: operation(listImages),
    examine: operation(examine),
    protect: operation(protect),
    update: operation(update),
    listVersions: operation(listVersions),
    restoreVersion: operation(restoreVersion),
    removeVersions: operation(removeVersions),
    purge: operation(purge),
    resetAccount: operation(resetAccount),
    unlock: operation(async (vault, presentedOpener: PresentedOpener, options?: OperationOptions) => {
      (await unlock(vault, presentedOpener, options)).opener.wipe();
    }),
    openSecret: operation(
      async (
        vault,
        secretId: string,
        presentedOpener: PresentedOpener,
        options?: OpenSecretOptions,
      ): Promise<TransferredSecret> => {
        const { ageFile, sealed, ...secret } = await openSecret(vault, secretId, presentedOpener, options);
        return Comlink.transfer(
          { ...secret, openedId: openedContents.add({ ageFile, sealed }) },
          secret.content === null ? [] : [secret.content.buffer],
        );
      },
    ),
    checkCopy: operation(checkCopy),
    exportSecrets: operation(
      async (vault, secretIds: readonly string[], presentedOpener: PresentedOpener, options?: OperationOptions) => {
        const { calls, retryPolicy } = requireStarted().uploadDeps;
        return exportSecrets(
          vault,
          { range: calls.range, retryPolicy, openSink: createPrivateSink },
          secretIds,
          presentedOpener,
          options,
        );
      },
    ),
    createKit: operation(
      async (vault, secretIds: readonly string[], presentedPicture: PresentedPicture, options?: KitOptions) => {
        const { uploadDeps, kitFile } = requireStarted();
        return createKit(
          vault,
          {
            range: uploadDeps.calls.range,
            retryPolicy: uploadDeps.retryPolicy,
            file: kitFile,
            openSink: createPrivateSink,
          },
          secretIds,
          presentedPicture,
          options,
        );
      },
    ),
    setDeviceKind: operation(setDeviceKind),

    listOpeners: operation(listOpeners),
    generateRecoveryCode,
    addOpener: operation(addOpener),
    resealForAllOpeners: operation(resealForAllOpeners),
    removeOpener: operation(removeOpener),
    recognise: operation(recognise),
    rotate: operation(rotate),
    replaceImage: operation(replaceImage),

    offerDevice: operation(offerDevice),
    joinDevice: operation(joinDevice),
    inspectRequestingDevice: operation(inspectRequestingDevice),
    admitDevice: operation(admitDevice),

    createShare: operation(createShare),
    listShares: operation(listShares),
    listSharesOfSecret: operation(listSharesOfSecret),
    revealShareLink: operation(revealShareLink),
    changeShare: operation(changeShare),
    updateShareContent: operation(updateShareContent),
    revokeShare: operation(revokeShare),
    findPerson: operation(findPerson),
    listPeople: operation(listPeople),
    pinPerson: operation(pinPerson),
    setCompared: operation(setCompared),
    setBlocked: operation(setBlocked),
    readOwnWords: operation(readOwnWords),
    listReceivedShares: operation(listReceivedShares),
    openReceived: operation(
      async (
        vault,
        shareId: string,
        presentedOpener: PresentedOpener | null,
        options?: OperationOptions & { readonly acceptedWords?: readonly string[] },
      ): Promise<TransferredContent<OpenedShare>> => {
        const { sealed, ...share } = await openReceived(vault, shareId, presentedOpener, options);
        return Comlink.transfer(
          { ...share, openedId: openedContents.add({ ageFile: null, sealed }) },
          share.content === null ? [] : [share.content.buffer],
        );
      },
    ),

    compareImport: operation(compareImport),
    importSecrets: operation(importSecrets),

    setFavorite: operation(setFavorite),
    trash: operation(trash),
    restore: operation(restore),
    acceptOlderState: operation(acceptOlderState),

    createRequest: operation(createRequest),
    listRequests: operation(listRequests),
    revealRequestLink: operation(revealRequestLink),
    openAnswer: operation(
      async (
        vault,
        requestId: string,
        presentedOpener: PresentedOpener | null,
        options?: OperationOptions,
      ): Promise<TransferredContent<OpenedAnswer>> => {
        const { sealed, ...answer } = await openAnswer(vault, requestId, presentedOpener, options);
        return Comlink.transfer(
          { ...answer, openedId: openedContents.add({ ageFile: null, sealed }) },
          answer.content === null ? [] : [answer.content.buffer],
        );
      },
    ),
    markCollected: operation(markCollected),
    dropRequest: operation(dropRequest),

    listUploads: operation((vault) => listUploads(vault, requireStarted().uploadDeps)),
    beginUpload: operation((vault, plan: UploadPlan, options?: OperationOptions) =>
      beginUpload(vault, requireStarted().uploadDeps, plan, options),
    ),
    finishUpload: operation((vault, uploadId: string, protection: Protection | null, options?: OperationOptions) =>
      finishUpload(vault, requireStarted().uploadDeps, uploadId, protection, options),
    ),
    restartUpload: operation(
      (
        vault,
        uploadId: string,
        file: { readonly size: number; readonly handle: FileSystemFileHandle | null },
        options?: OperationOptions,
      ) => restartUpload(vault, requireStarted().uploadDeps, uploadId, file, options),
    ),
    discardUpload: operation((_vault, uploadId: string) => discardUpload(requireStarted().uploadDeps, uploadId)),

    /** `payload_too_large` for content that is not held here. */
    exportAgeFile: (openedId: string): AgeFile => {
      const { ageFile } = openedContents.require(openedId);
      if (ageFile === null) throw new PortalError("payload_too_large");
      return ageFile;
    },
    /**
     * Answers at this port what opens the pieces of an opened content. The other end is a worker's,
     * never the page's.
     */
    serveContentKeys: openedContents.serveKeys,
    disposeContent: openedContents.dispose,
  };
}

/** Opened at the first upload: most people have none. */
function createLazyRecords(account: string): UploadDeps["records"] {
  let opening: ReturnType<typeof openUploadRecords> | null = null;
  const openRecords = () => (opening ??= openUploadRecords(account));
  return {
    list: async () => (await openRecords()).list(),
    get: async (uploadId) => (await openRecords()).get(uploadId),
    add: async (record) => (await openRecords()).add(record),
    replace: async (record) => (await openRecords()).replace(record),
    remove: async (uploadId) => (await openRecords()).remove(uploadId),
    close: () =>
      void opening?.then((records) => {
        records.close();
      }),
  };
}

/** What some tab of this browser is sending now, by the locks that they hold. */
async function findRunningUploads(): Promise<ReadonlySet<string>> {
  if (!("navigator" in globalThis) || !("locks" in navigator)) return new Set();
  const { held = [] } = await navigator.locks.query();
  const prefix = uploadLockName("");
  return new Set(held.flatMap(({ name }) => (name?.startsWith(prefix) === true ? [name.slice(prefix.length)] : [])));
}
