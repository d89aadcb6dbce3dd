import type { Engine } from "@relicario/engine";
import { callsTo, serveCalls } from "@relicario/engine/worker-calls";
import type { AgeFile, DeviceAccount, ListOptions, RecoveredSecret, RecoverOptions, VaultState } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { copyOf } from "../seal/bytes.ts";
import { examine, images } from "../acts/examine.ts";
import { exportSecrets } from "../acts/export-secrets.ts";
import { restore, setFavorite, trash } from "../acts/favorite-and-trash.ts";
import { list } from "../acts/list.ts";
import { protect } from "../acts/protect.ts";
import { purge } from "../acts/purge.ts";
import { recoverAny, type SealedContentKey } from "../acts/recover.ts";
import { rehearse } from "../acts/rehearse.ts";
import { answerDevice, unlock } from "../acts/unlock.ts";
import { update } from "../acts/update.ts";
import { beginUpload, discardUpload, finishUpload, restartUpload, uploads, type Protection, type UploadOrder, type UploadParts } from "../acts/resumable-uploads.ts";
import { history, removeVersions, restoreVersion } from "../acts/versions.ts";
import { openDevice, type Device } from "../device/device.ts";
import { contentHeadBytes } from "../seal/content-pieces.ts";
import { openContentHead } from "../seal/content-stream.ts";
import { serviceOn } from "../service.ts";
import { acceptOlderState, readKeyring } from "../steps/read-keyring.ts";
import { openUploadRecords, uploadLock } from "../transfer/records.ts";
import { privateFile, sweepPrivateFiles } from "../transfer/sinks.ts";
import type { ContentKeys } from "../transfer/transfer-worker-api.ts";
import { browserPatience } from "../transfer/until-through.ts";
import { transferCallsOn } from "../transfer/upload-calls.ts";
import { openVaultContext, refuseCancelled, type ActOptions, type VaultContext } from "../vault-context.ts";
import { httpOverPage, type PageHttp } from "./port-http.ts";
import type { ShownPicture } from "../shown-image.ts";

export interface VaultSettings extends DeviceAccount {
  readonly userId: string;
  /** Starts locked, whatever the device keeps. */
  readonly locked: boolean;
}

/** What the page answers to the vault's worker. */
export interface VaultPage extends PageHttp {
  /** Called before each call to the engine; its port is connected when this is answered. `vault_unavailable`. */
  readonly startEngine: () => Promise<void>;
  /** Called after each change of the state. */
  readonly tell: (state: VaultState) => void;
}

/** An opened secret as it crosses to the page: its age file stays behind, under `openedId`. */
export type OpenedByWorker = Omit<RecoveredSecret, "save" | "exportAge" | "putAway"> & { readonly openedId: string };

/** What the vault's worker offers. Each act of the vault is one line here; the page takes its types from this. */
export type VaultWorkerApi = ReturnType<typeof createVaultWorkerApi>;

/** @param engineOn how the worker reaches the engine on a port; it and the device are seams for tests */
export function createVaultWorkerApi(engineOn: (port: MessagePort) => Engine, deviceFor: (account: DeviceAccount) => Promise<Device> = openDevice) {
  let started: { readonly vault: VaultContext; readonly parts: UploadParts } | null = null;
  let told: Promise<unknown> = Promise.resolve();
  const opened = new Map<string, { readonly ageFile: AgeFile | null; readonly sealed: SealedContentKey }>();

  function requireStarted(): { readonly vault: VaultContext; readonly parts: UploadParts } {
    if (started === null) throw new PortalError("vault_unavailable");
    return started;
  }

  function requireOpened(openedId: string): { readonly ageFile: AgeFile | null; readonly sealed: SealedContentKey } {
    const secret = opened.get(openedId);
    if (secret === undefined) throw new PortalError("vault_locked");
    return secret;
  }

  /** An act on the vault of this worker. The page hears of a new state before the act is answered. */
  function act<Given extends readonly unknown[], Answer>(run: (vault: VaultContext, ...given: Given) => Promise<Answer>): (...given: Given) => Promise<Answer> {
    return async (...given) => {
      try {
        return await run(requireStarted().vault, ...given);
      } finally {
        await told;
      }
    };
  }

  const contentKeys: ContentKeys = {
    contentKey: async (openedId) => {
      const { identity, ...content } = requireOpened(openedId).sealed;
      const { bytes } = await requireStarted().parts.calls.range(content, 0, contentHeadBytes);
      return { ...content, ...(await openContentHead(identity, bytes)) };
    },
  };

  return {
    /** Answers when the worker runs. */
    ping: () => undefined,

    /** Once, before any other call. The page answers at `pagePort`, the engine at `enginePort`. */
    start: async ({ userId, locked, ...account }: VaultSettings, pagePort: MessagePort, enginePort: MessagePort): Promise<void> => {
      const page = callsTo<VaultPage>(pagePort);
      const http = httpOverPage(page);
      const device = await deviceFor(account);
      sweepPrivateFiles().catch(() => undefined); // tried again with the next page
      const vault = await openVaultContext({
        userId,
        locked,
        service: serviceOn(http),
        engine: startedBefore(page.startEngine, engineOn(enginePort)),
        device,
        tell: (state) => {
          told = page.tell(state).catch(() => undefined); // a listener of the page that throws is no failure of the act
        },
      });
      started = { vault, parts: { records: lazyRecords(device.name), calls: transferCallsOn(http), running: runningUploads, patience: browserPatience } };
    },

    refresh: act(async (vault) => {
      await readKeyring(vault);
      return vault.getState();
    }),
    /** Every row goes to `onRows`, the newest first, before this is answered; see {@link Vault.list}. */
    list: act(async (vault, options: ListOptions) => {
      await list(vault, options);
    }),
    images: act(images),
    examine: act(examine),
    protect: act(protect),
    update: act(update),
    history: act(history),
    restoreVersion: act(restoreVersion),
    removeVersions: act(removeVersions),
    purge: act(purge),
    unlock: act(async (vault, shown: ShownPicture, options?: ActOptions) => {
      (await unlock(vault, shown, options)).opener.forget();
    }),
    recover: act(async (vault, secretId: string, shown: ShownPicture, options?: RecoverOptions): Promise<OpenedByWorker> => {
      const { ageFile, sealed, ...secret } = await recoverAny(vault, secretId, shown, options);
      const openedId = crypto.randomUUID();
      opened.set(openedId, { ageFile, sealed });
      return Comlink.transfer({ ...secret, openedId }, secret.content === null ? [] : [secret.content.buffer]);
    }),
    rehearse: act(rehearse),
    exportSecrets: act(async (vault, secretIds: readonly string[], shown: ShownPicture, options?: ActOptions) => {
      const { calls, patience } = requireStarted().parts;
      return exportSecrets(vault, { range: calls.range, patience, openSink: privateFile }, secretIds, shown, options);
    }),
    answerDevice: act(answerDevice),
    setFavorite: act(setFavorite),
    trash: act(trash),
    restore: act(restore),
    acceptOlderState: act(acceptOlderState),

    uploads: act((vault) => uploads(vault, requireStarted().parts)),
    beginUpload: act((vault, order: UploadOrder, options?: ActOptions) => beginUpload(vault, requireStarted().parts, order, options)),
    finishUpload: act((vault, uploadId: string, protection: Protection | null, options?: ActOptions) => finishUpload(vault, requireStarted().parts, uploadId, protection, options)),
    restartUpload: act((vault, uploadId: string, file: { readonly size: number; readonly handle: FileSystemFileHandle | null }, options?: ActOptions) => restartUpload(vault, requireStarted().parts, uploadId, file, options)),
    discardUpload: act((_vault, uploadId: string) => discardUpload(requireStarted().parts, uploadId)),

    /** `payload_too_large` for content that is not held here. */
    exportAge: (openedId: string): AgeFile => {
      const { ageFile } = requireOpened(openedId);
      if (ageFile === null) throw new PortalError("payload_too_large");
      return ageFile;
    },
    /** Answers at this port what opens the pieces of an opened content. The other end is a worker's, never the page's. */
    serveContentKeys: (port: MessagePort): void => {
      serveCalls(contentKeys, port);
    },
    putAway: (openedId: string): void => {
      opened.delete(openedId);
    },
  };
}

/**
 * An engine that is started at its first call. A picture crosses as a copy that is moved, not cloned: what the engine is given it
 * overwrites, and nothing of it stays in between.
 */
function startedBefore(start: () => Promise<void>, engine: Engine): Engine {
  async function ready(signal: AbortSignal | undefined): Promise<Engine> {
    await start();
    refuseCancelled(signal);
    return engine;
  }
  return {
    inspect: async (picture, options) => (await ready(options?.signal)).inspect(moved(picture), options),
    enrol: async (picture, known, options) => (await ready(options?.signal)).enrol(moved(picture), known, options),
    recover: async (picture, sketches, options) => (await ready(options?.signal)).recover(moved(picture), sketches, options),
  };
}

function moved(picture: Uint8Array): Uint8Array {
  const copy = copyOf(picture);
  return Comlink.transfer(copy, [copy.buffer]);
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
