import type { Engine } from "@relicario/engine";
import { callsTo } from "@relicario/engine/worker-calls";
import type {
  AgeFile,
  DeviceAccount,
  KitOptions,
  ListOptions,
  OpenedAnswer,
  OpenedShare,
  RecoveredSecret,
  RecoverOptions,
  VaultState,
} from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { changeImage } from "../acts/change-image.ts";
import { cover, removeOpener } from "../acts/cover.ts";
import { examine, images } from "../acts/examine.ts";
import { exportSecrets } from "../acts/export-secrets.ts";
import { restore, setFavorite, trash } from "../acts/favorite-and-trash.ts";
import { list } from "../acts/list.ts";
import { makeKit, type KitParts } from "../acts/make-kit.ts";
import { addOpener, listOpeners, newRecoveryCode } from "../acts/openers.ts";
import { protect } from "../acts/protect.ts";
import { purge } from "../acts/purge.ts";
import { recoverAny } from "../acts/recover.ts";
import { recognise, rotate } from "../acts/rotate.ts";
import { rehearse } from "../acts/rehearse.ts";
import { beginAnew } from "../acts/start-anew.ts";
import { answerDevice, unlock } from "../acts/unlock.ts";
import { update } from "../acts/update.ts";
import {
  beginUpload,
  discardUpload,
  finishUpload,
  restartUpload,
  uploads,
  type Protection,
  type UploadOrder,
  type UploadParts,
} from "../acts/resumable-uploads.ts";
import { history, removeVersions, restoreVersion } from "../acts/versions.ts";
import { openDevice, type Device } from "../device/device.ts";
import { admitDevice, askingDevice } from "../device-links/admit.ts";
import { joinDevice, offerDevice } from "../device-links/join.ts";
import { findPerson, listPeople, ownWords, pinPerson, setBlocked, setCompared } from "../people/people.ts";
import { openReceived, receivedShares } from "../received/received-shares.ts";
import { askForSecret, showRequestLink } from "../requests/ask.ts";
import { listAsked } from "../requests/asked.ts";
import { openAnswer } from "../requests/open-answer.ts";
import { dropRequest, markCollected } from "../requests/settle.ts";
import { compareImport } from "../imports/compare.ts";
import { importSecrets } from "../imports/import-secrets.ts";
import { serviceOn } from "../service.ts";
import { changeShare, revokeShare, showShareLink, updateShareContent } from "../shares/change-shares.ts";
import { createShare } from "../shares/create-share.ts";
import { allShares, sharesOfSecret } from "../shares/list-shares.ts";
import { takeKeptRows } from "../steps/read-account.ts";
import { acceptOlderState, isLatest, readKeyring, type KeyringView } from "../steps/read-keyring.ts";
import { openUploadRecords, uploadLock } from "../transfer/records.ts";
import { privateFile, sweepPrivateFiles } from "../transfer/sinks.ts";
import { browserPatience } from "../transfer/until-through.ts";
import { transferCallsOn } from "../transfer/upload-calls.ts";
import { openVaultContext, type ActOptions, type VaultContext } from "../vault-context.ts";
import { engineOverPage } from "./engine-over-page.ts";
import { createOpenedContents, type Crossing, type SealedContentKey } from "./opened-contents.ts";
import { httpOverPage, type PageHttp } from "./port-http.ts";
import type { Shown, ShownPicture } from "../shown-image.ts";

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
  readonly kitFile: KitParts["file"];
  /** Called after each change of the state. */
  readonly tell: (state: VaultState) => void;
}

/** An opened secret as it crosses to the page: its age file stays behind, under `openedId`. */
export type OpenedByWorker = Omit<RecoveredSecret, "save" | "exportAge" | "putAway"> & { readonly openedId: string };

/**
 * What this worker keeps of an opened content: the age file of a secret that is held, null of any
 * other.
 */
interface OpenedHere {
  readonly ageFile: AgeFile | null;
  readonly sealed: SealedContentKey;
}

interface Started {
  readonly vault: VaultContext;
  readonly parts: UploadParts;
  readonly kitFile: KitParts["file"];
}

/** How long a keyring that was read counts as the present one for a list. */
const momentMs = 5_000;

/**
 * What the vault's worker offers. Each act of the vault is one line here; the page takes its types
 * from this.
 */
export type VaultWorkerApi = ReturnType<typeof createVaultWorkerApi>;

/**
 * @param engineOn how the worker reaches the engine on a port; it and the device are seams for
 *   tests
 */
export function createVaultWorkerApi(
  engineOn: (port: MessagePort) => Engine,
  deviceFor: (account: DeviceAccount) => Promise<Device> = openDevice,
) {
  let started: Started | null = null;
  let told: Promise<unknown> = Promise.resolve();
  /** What `refresh` read, for the list that follows it; and when, by the worker's own clock. */
  let refreshed: { readonly view: KeyringView; readonly at: number } | null = null;
  const opened = createOpenedContents<OpenedHere>(() => requireStarted().parts.calls);

  function requireStarted(): Started {
    if (started === null) throw new PortalError("vault_unavailable");
    return started;
  }

  /**
   * An act on the vault of this worker. The page hears of a new state before the act is answered.
   */
  function act<Given extends readonly unknown[], Answer>(
    run: (vault: VaultContext, ...given: Given) => Promise<Answer>,
  ): (...given: Given) => Promise<Answer> {
    return async (...given) => {
      try {
        return await run(requireStarted().vault, ...given);
      } finally {
        await told;
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
      const page = callsTo<VaultPage>(pagePort);
      const http = httpOverPage(page);
      const device = await deviceFor(account);
      sweepPrivateFiles().catch(() => undefined); // tried again with the next page
      const vault = await openVaultContext({
        userId,
        locked,
        service: serviceOn(http),
        engine: engineOverPage(page.startEngine, engineOn(enginePort)),
        device,
        tell: (state) => {
          told = page.tell(state).catch(() => undefined); // a listener of the page that throws is no failure of the act
        },
      });
      started = {
        vault,
        parts: {
          records: lazyRecords(device.name),
          calls: transferCallsOn(http),
          running: runningUploads,
          patience: browserPatience,
        },
        kitFile: page.kitFile,
      };
    },

    refresh: act(async (vault) => {
      takeKeptRows(vault).catch(() => undefined); // the list follows, and says what is wrong
      refreshed = null;
      const view = await readKeyring(vault);
      refreshed = view === null ? null : { view, at: performance.now() };
      return vault.getState();
    }),
    /**
     * Every row goes to `onRows`, the newest first, before this is answered; see {@link
     * Vault.list}.
     */
    list: act(async (vault, options: ListOptions) => {
      const given = refreshed !== null && performance.now() - refreshed.at < momentMs ? refreshed.view : null;
      refreshed = null;
      await list(vault, options, given !== null && (await isLatest(vault, given)) ? given : undefined);
    }),
    images: act(images),
    examine: act(examine),
    protect: act(protect),
    update: act(update),
    history: act(history),
    restoreVersion: act(restoreVersion),
    removeVersions: act(removeVersions),
    purge: act(purge),
    beginAnew: act(beginAnew),
    unlock: act(async (vault, shown: Shown, options?: ActOptions) => {
      (await unlock(vault, shown, options)).opener.forget();
    }),
    recover: act(async (vault, secretId: string, shown: Shown, options?: RecoverOptions): Promise<OpenedByWorker> => {
      const { ageFile, sealed, ...secret } = await recoverAny(vault, secretId, shown, options);
      return Comlink.transfer(
        { ...secret, openedId: opened.keep({ ageFile, sealed }) },
        secret.content === null ? [] : [secret.content.buffer],
      );
    }),
    rehearse: act(rehearse),
    exportSecrets: act(async (vault, secretIds: readonly string[], shown: Shown, options?: ActOptions) => {
      const { calls, patience } = requireStarted().parts;
      return exportSecrets(vault, { range: calls.range, patience, openSink: privateFile }, secretIds, shown, options);
    }),
    makeKit: act(async (vault, secretIds: readonly string[], shown: ShownPicture, options?: KitOptions) => {
      const { parts, kitFile } = requireStarted();
      return makeKit(
        vault,
        { range: parts.calls.range, patience: parts.patience, file: kitFile, openSink: privateFile },
        secretIds,
        shown,
        options,
      );
    }),
    answerDevice: act(answerDevice),

    listOpeners: act(listOpeners),
    newRecoveryCode,
    addOpener: act(addOpener),
    cover: act(cover),
    removeOpener: act(removeOpener),
    recognise: act(recognise),
    rotate: act(rotate),
    changeImage: act(changeImage),

    offerDevice: act(offerDevice),
    joinDevice: act(joinDevice),
    askingDevice: act(askingDevice),
    admitDevice: act(admitDevice),

    createShare: act(createShare),
    allShares: act(allShares),
    sharesOfSecret: act(sharesOfSecret),
    showShareLink: act(showShareLink),
    changeShare: act(changeShare),
    updateShareContent: act(updateShareContent),
    revokeShare: act(revokeShare),
    findPerson: act(findPerson),
    listPeople: act(listPeople),
    pinPerson: act(pinPerson),
    setCompared: act(setCompared),
    setBlocked: act(setBlocked),
    ownWords: act(ownWords),
    receivedShares: act(receivedShares),
    openReceived: act(
      async (
        vault,
        shareId: string,
        shown: Shown | null,
        options?: ActOptions & { readonly accept?: readonly string[] },
      ): Promise<Crossing<OpenedShare>> => {
        const { sealed, ...share } = await openReceived(vault, shareId, shown, options);
        return Comlink.transfer(
          { ...share, openedId: opened.keep({ ageFile: null, sealed }) },
          share.content === null ? [] : [share.content.buffer],
        );
      },
    ),

    compareImport: act(compareImport),
    importSecrets: act(importSecrets),

    setFavorite: act(setFavorite),
    trash: act(trash),
    restore: act(restore),
    acceptOlderState: act(acceptOlderState),

    askForSecret: act(askForSecret),
    listAsked: act(listAsked),
    showRequestLink: act(showRequestLink),
    openAnswer: act(
      async (vault, requestId: string, shown: Shown | null, options?: ActOptions): Promise<Crossing<OpenedAnswer>> => {
        const { sealed, ...answer } = await openAnswer(vault, requestId, shown, options);
        return Comlink.transfer(
          { ...answer, openedId: opened.keep({ ageFile: null, sealed }) },
          answer.content === null ? [] : [answer.content.buffer],
        );
      },
    ),
    markCollected: act(markCollected),
    dropRequest: act(dropRequest),

    uploads: act((vault) => uploads(vault, requireStarted().parts)),
    beginUpload: act((vault, order: UploadOrder, options?: ActOptions) =>
      beginUpload(vault, requireStarted().parts, order, options),
    ),
    finishUpload: act((vault, uploadId: string, protection: Protection | null, options?: ActOptions) =>
      finishUpload(vault, requireStarted().parts, uploadId, protection, options),
    ),
    restartUpload: act(
      (
        vault,
        uploadId: string,
        file: { readonly size: number; readonly handle: FileSystemFileHandle | null },
        options?: ActOptions,
      ) => restartUpload(vault, requireStarted().parts, uploadId, file, options),
    ),
    discardUpload: act((_vault, uploadId: string) => discardUpload(requireStarted().parts, uploadId)),

    /** `payload_too_large` for content that is not held here. */
    exportAge: (openedId: string): AgeFile => {
      const { ageFile } = opened.require(openedId);
      if (ageFile === null) throw new PortalError("payload_too_large");
      return ageFile;
    },
    /**
     * Answers at this port what opens the pieces of an opened content. The other end is a worker's,
     * never the page's.
     */
    serveContentKeys: opened.serveKeys,
    putAway: opened.putAway,
  };
}

/** Opened at the first upload: most people have none. */
function lazyRecords(account: string): UploadParts["records"] {
  let opening: ReturnType<typeof openUploadRecords> | null = null;
  const records = () => (opening ??= openUploadRecords(account));
  return {
    all: async () => (await records()).all(),
    get: async (uploadId) => (await records()).get(uploadId),
    add: async (record) => (await records()).add(record),
    replace: async (record) => (await records()).replace(record),
    remove: async (uploadId) => (await records()).remove(uploadId),
    close: () =>
      void opening?.then((one) => {
        one.close();
      }),
  };
}

/** What some tab of this browser is sending now, by the locks that they hold. */
async function runningUploads(): Promise<ReadonlySet<string>> {
  if (!("navigator" in globalThis) || !("locks" in navigator)) return new Set();
  const { held = [] } = await navigator.locks.query();
  const prefix = uploadLock("");
  return new Set(held.flatMap(({ name }) => (name?.startsWith(prefix) === true ? [name.slice(prefix.length)] : [])));
}
