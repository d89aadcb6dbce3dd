import type {
  AgeFile,
  DeviceKind,
  ExportedSecrets,
  PictureVerdict,
  ProtectRequest,
  RecoveredSecret,
  RecoverOptions,
  RecoveryImage,
  RowsListener,
  SecretChange,
  SecretVersion,
  ShownImage,
  VaultProgress,
  VaultState,
  WaitingUpload,
} from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import type { Engine } from "@relicario/engine";
import { openDevice, type Device, type DeviceAccount } from "../device/device.ts";
import { examine, images } from "../acts/examine.ts";
import { exportSecrets } from "../acts/export-secrets.ts";
import { list } from "../acts/list.ts";
import { protect, type Published } from "../acts/protect.ts";
import { purge } from "../acts/purge.ts";
import { acceptOlderState, readKeyring } from "../steps/read-keyring.ts";
import { recoverAny, type SealedContentKey } from "../acts/recover.ts";
import { restore, setFavorite, trash } from "../acts/favorite-and-trash.ts";
import { answerDevice, unlock } from "../acts/unlock.ts";
import { update, type NewVersion } from "../acts/update.ts";
import { history, restoreVersion } from "../acts/versions.ts";
import { contentHeadBytes } from "../seal/content-pieces.ts";
import { openContentHead } from "../seal/content-stream.ts";
import { serviceOn } from "../service.ts";
import { openVaultContext, type ActOptions, type VaultContext } from "../vault-context.ts";
import { openUploadRecords, uploadLock } from "../transfer/records.ts";
import type { ContentKeys } from "../transfer/transfer-worker-api.ts";
import { privateFile, sweepPrivateFiles } from "../transfer/sinks.ts";
import { browserPatience } from "../transfer/until-through.ts";
import { transferCallsOn } from "../transfer/upload-calls.ts";
import { beginUpload, discardUpload, finishUpload, uploads, type UploadOrder, type UploadParts } from "../acts/uploads.ts";
import { httpOverPage, type PageHttp } from "./port-http.ts";

export type CallId = string;
type Listener<T> = ((value: T) => unknown) & { readonly [Comlink.releaseProxy]?: () => void };
export type ProgressListener = Listener<VaultProgress>;
/** Comlink's proxy of a {@link RowsListener}. */
type RowsProxy = ((...given: Parameters<RowsListener>) => unknown) & { readonly [Comlink.releaseProxy]?: () => void };

export interface VaultSettings extends DeviceAccount {
  readonly userId: string;
  /** Starts locked, whatever the device keeps. */
  readonly locked: boolean;
}

/** An opened secret as it crosses to the page: its age file stays behind, under `openedId`. */
export type OpenedByWorker = Omit<RecoveredSecret, "save" | "exportAge" | "putAway"> & { readonly openedId: string };

/** What the vault's worker offers over Comlink. Calls carry an id, so that they can be cancelled. */
export interface VaultWorkerApi {
  /** Once, before any other call. `tell` is called after each change of the state. */
  readonly start: (settings: VaultSettings, http: PageHttp, enginePort: MessagePort, tell: (state: VaultState) => unknown) => Promise<void>;
  readonly refresh: () => Promise<VaultState>;
  /** Gives every row to `onRows`, the newest first, before it is answered; see {@link Vault.list}. */
  readonly list: (id: CallId, onRows: RowsProxy) => Promise<void>;
  readonly images: () => Promise<readonly RecoveryImage[]>;
  readonly examine: (id: CallId, onProgress: ProgressListener | null, picture: Blob) => Promise<PictureVerdict>;
  readonly protect: (id: CallId, onProgress: ProgressListener | null, request: ProtectRequest) => Promise<Published>;
  readonly update: (id: CallId, onProgress: ProgressListener | null, secretId: string, change: SecretChange) => Promise<NewVersion>;
  readonly history: (id: CallId, secretId: string) => Promise<readonly SecretVersion[]>;
  readonly restoreVersion: (id: CallId, onProgress: ProgressListener | null, secretId: string, version: number, shown: ShownImage) => Promise<NewVersion>;
  readonly purge: (id: CallId, secretIds: readonly string[]) => Promise<void>;
  readonly unlock: (id: CallId, onProgress: ProgressListener | null, shown: ShownImage) => Promise<void>;
  readonly recover: (id: CallId, onProgress: ProgressListener | null, secretId: string, shown: ShownImage, version: RecoverOptions["version"]) => Promise<OpenedByWorker>;
  readonly exportSecrets: (id: CallId, onProgress: ProgressListener | null, secretIds: readonly string[], shown: ShownImage) => Promise<ExportedSecrets>;
  /** `payload_too_large` for content that is not held here. */
  readonly exportAge: (openedId: string) => AgeFile;
  /** Answers at this port what opens the pieces of an opened content. The other end is a worker's, never the page's. */
  readonly serveContentKeys: (port: MessagePort) => void;
  readonly beginUpload: (id: CallId, onProgress: ProgressListener | null, order: UploadOrder) => Promise<string>;
  readonly finishUpload: (id: CallId, onProgress: ProgressListener | null, uploadId: string, protection: ProtectRequest["protection"] | null) => Promise<Published>;
  readonly uploads: () => Promise<readonly WaitingUpload[]>;
  readonly discardUpload: (uploadId: string) => Promise<void>;
  readonly putAway: (openedId: string) => void;
  readonly answerDevice: (kind: DeviceKind) => Promise<void>;
  readonly setFavorite: (secretId: string, favorite: boolean) => Promise<void>;
  readonly trash: (secretId: string) => Promise<void>;
  readonly restore: (secretId: string) => Promise<void>;
  readonly acceptOlderState: () => Promise<void>;
  /** Ends a call with `cancelled`. Without effect when it is over. */
  readonly cancel: (id: CallId) => void;
}

/** How the worker reaches the engine on a port; a seam for tests. */
export type EngineOnPort = (port: MessagePort) => Engine;

export function createVaultWorkerApi(engineOn: EngineOnPort, deviceFor: (account: DeviceAccount) => Promise<Device> = openDevice): VaultWorkerApi {
  let vault: VaultContext | null = null;
  let told: Promise<unknown> = Promise.resolve();
  const running = new Map<CallId, AbortController>();
  const opened = new Map<string, { readonly ageFile: AgeFile | null; readonly sealed: SealedContentKey }>();
  let transfers: UploadParts | null = null;

  function requireVault(): VaultContext {
    if (vault === null) throw new PortalError("vault_unavailable");
    return vault;
  }

  function requireOpened(openedId: string): { readonly ageFile: AgeFile | null; readonly sealed: SealedContentKey } {
    const secret = opened.get(openedId);
    if (secret === undefined) throw new PortalError("vault_locked");
    return secret;
  }

  function requireTransfers(): UploadParts {
    if (transfers === null) throw new PortalError("vault_unavailable");
    return transfers;
  }

  const contentKeys: ContentKeys = {
    contentKey: async (openedId) => {
      const { identity, ...content } = requireOpened(openedId).sealed;
      const { bytes } = await requireTransfers().calls.range(content, 0, contentHeadBytes);
      return { ...content, ...(await openContentHead(identity, bytes)) };
    },
  };

  /** The page hears of a new state before the call that made it is answered. */
  async function tellFirst<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } finally {
      await told;
    }
  }

  async function call<T>(id: CallId, onProgress: ProgressListener | null, work: (vault: VaultContext, options: ActOptions) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    running.set(id, controller);
    const options: ActOptions = { signal: controller.signal, ...(onProgress === null ? {} : { onProgress: (progress) => void onProgress(progress) }) };
    try {
      return await tellFirst(work(requireVault(), options));
    } finally {
      running.delete(id);
      onProgress?.[Comlink.releaseProxy]?.();
    }
  }

  return {
    start: async (settings, http, enginePort, tell) => {
      const { userId, vendorId, issuer, subject, locked } = settings;
      const ownHttp = httpOverPage(http);
      const device = await deviceFor({ vendorId, issuer, subject });
      sweepPrivateFiles().catch(() => undefined); // tried again with the next page
      transfers = { records: lazyRecords(device.name), calls: transferCallsOn(ownHttp), running: runningUploads, patience: browserPatience };
      vault = await openVaultContext({
        userId,
        locked,
        service: serviceOn(ownHttp),
        engine: engineOn(enginePort),
        device,
        tell: (state) => {
          told = Promise.resolve(tell(state));
        },
      });
    },
    refresh: async () => {
      await tellFirst(readKeyring(requireVault()));
      return requireVault().getState();
    },
    list: (id, onRows) =>
      call(id, null, async (one, options) => {
        const given: unknown[] = [];
        try {
          await list(one, { ...options, onRows: (rows, progress) => void given.push(onRows(rows, progress)) });
          await Promise.all(given);
        } finally {
          onRows[Comlink.releaseProxy]?.();
        }
      }),
    images: () => tellFirst(images(requireVault())),
    examine: (id, onProgress, picture) => call(id, onProgress, (one, options) => examine(one, picture, options)),
    protect: (id, onProgress, request) => call(id, onProgress, (one, options) => protect(one, request, options)),
    update: (id, onProgress, secretId, change) => call(id, onProgress, (one, options) => update(one, secretId, change, options)),
    history: (id, secretId) => call(id, null, (one, options) => history(one, secretId, options)),
    restoreVersion: (id, onProgress, secretId, version, shown) => call(id, onProgress, (one, options) => restoreVersion(one, secretId, version, shown, options)),
    purge: (id, secretIds) => call(id, null, (one, options) => purge(one, secretIds, options)),
    unlock: (id, onProgress, shown) =>
      call(id, onProgress, async (one, options) => {
        (await unlock(one, shown, options)).opener.forget();
      }),
    recover: (id, onProgress, secretId, shown, version) =>
      call(id, onProgress, async (one, options) => {
        const { ageFile, sealed, ...secret } = await recoverAny(one, secretId, shown, { ...options, ...(version === undefined ? {} : { version }) });
        const openedId = crypto.randomUUID();
        opened.set(openedId, { ageFile, sealed });
        return Comlink.transfer({ ...secret, openedId }, secret.content === null ? [] : [secret.content.buffer]);
      }),
    exportSecrets: (id, onProgress, secretIds, shown) =>
      call(id, onProgress, async (one, options) => {
        const { calls, patience } = requireTransfers();
        return exportSecrets(one, { range: calls.range, patience, openSink: privateFile }, secretIds, shown, options);
      }),
    exportAge: (openedId) => {
      const { ageFile } = requireOpened(openedId);
      if (ageFile === null) throw new PortalError("payload_too_large");
      return ageFile;
    },
    serveContentKeys: (port) => {
      Comlink.expose(contentKeys, port);
    },
    beginUpload: (id, onProgress, order) => call(id, onProgress, (one, options) => beginUpload(one, requireTransfers(), order, options)),
    finishUpload: (id, onProgress, uploadId, protection) => call(id, onProgress, (one, options) => finishUpload(one, requireTransfers(), uploadId, protection, options)),
    uploads: async () => uploads(requireVault(), requireTransfers()),
    discardUpload: async (uploadId) => discardUpload(requireTransfers(), uploadId),
    putAway: (openedId) => {
      opened.delete(openedId);
    },
    answerDevice: (kind) => tellFirst(answerDevice(requireVault(), kind)),
    setFavorite: (secretId, favorite) => setFavorite(requireVault(), secretId, favorite),
    trash: (secretId) => trash(requireVault(), secretId),
    restore: (secretId) => restore(requireVault(), secretId),
    acceptOlderState: () => tellFirst(acceptOlderState(requireVault())),
    cancel: (id) => {
      running.get(id)?.abort();
    },
  };
}

/** Opened at the first upload: most sessions have none. */
function lazyRecords(account: string): UploadParts["records"] {
  let opening: ReturnType<typeof openUploadRecords> | null = null;
  const records = () => (opening ??= openUploadRecords(account));
  return {
    all: async () => (await records()).all(),
    get: async (uploadId) => (await records()).get(uploadId),
    add: async (record) => (await records()).add(record),
    replace: async (record) => (await records()).replace(record),
    remove: async (uploadId) => (await records()).remove(uploadId),
    close: () => void opening?.then((one) => {
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
