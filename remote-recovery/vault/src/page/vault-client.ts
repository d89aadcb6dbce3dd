import { createAbortableCalls, type AbortableCalls } from "@relicario/engine/abortable-calls";
import { serveCalls, findSignal } from "@relicario/engine/worker-calls";
import { Counter, Digest, maxSmallContentBytes } from "@relicario/shared/api";
import {
  accountStorageKey,
  autoLockMinutes,
  type AutoLock,
  type CallOptions,
  type DeviceAccount,
  type OpenedContent,
  type PortalForServices,
  type OpenedSecret,
  type SecretRow,
  type Vault,
  type VaultState,
} from "@relicario/shared/contract";
import { isPortalError, PortalError, toPortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";
import { z } from "zod";

import type { PictureVerdict } from "../operations/examine.ts";
import {
  finishLock,
  isSignInAfterLock,
  lockedSince,
  markLocked,
  markUnlocked,
  saveAutoLockState,
  readDeviceRecord,
  archiveDeviceRecord,
} from "../device/device.ts";
import { createIdleLock, pageEnvironment, type PendingLock, type PageEnvironment } from "../device/idle-lock.ts";
import { createVaultImports } from "./vault-imports.ts";
import {
  releaseAllOpeners,
  releaseOpener,
  resolveChange,
  requirePresentedKey,
  requirePresentedPicture,
  resolveProtection,
  requirePresented,
} from "../presented-opener.ts";
import { createTransfers } from "./transfer-client.ts";
import { throwIfCancelled } from "../throw-if-cancelled.ts";
import { createPageEngine } from "./page-engine.ts";
import { createOpenedContent } from "./opened-content.ts";
import { createPageHttp } from "../rpc/page-http.ts";
import type { RunningWorker } from "../rpc/start-worker.ts";
import { browserWorkers, type WorkerStarter } from "./browser-workers.ts";
import { createVaultAccountReset } from "./vault-account-reset.ts";
import { createVaultSharing } from "./vault-sharing.ts";
import type { TransferredSecret, VaultPage, VaultWorkerApi } from "../worker/vault-worker-api.ts";

export type { PictureVerdict };

/** The contract's vault but for what it draws, and what the recovery area alone may ask of it. */
export interface VaultClient extends Omit<Vault, "PictureField"> {
  /**
   * Judges the bytes of a picture. Not for others: take it off before the vault is given to them.
   */
  readonly examine: (picture: Blob, options?: CallOptions) => Promise<PictureVerdict>;
}

/** The vault of one sign-in. */
export async function createVault(portal: PortalForServices): Promise<VaultClient> {
  const { issuer, subject } = portal.account;
  const minutes = await loadAutoLockMinutes({ vendorId: portal.vendorId, issuer, subject });
  return createVaultClient(portal, browserWorkers, { environment: pageEnvironment, minutes });
}

/** A record that cannot be read is told by the first act, which the person can answer. */
async function loadAutoLockMinutes(account: DeviceAccount): Promise<number> {
  try {
    return (await readDeviceRecord(account)).autoLockMinutes;
  } catch (error) {
    if (isPortalError(error, "device_record_unreadable")) return autoLockMinutes.default;
    throw error;
  }
}

/** What an `older_state` says of the state that it is about. */
const OlderStateDetails = z.looseObject({ given: Counter, given_sha256: Digest });

/** The vault's worker. */
interface RunningVault {
  readonly worker: RunningWorker<VaultWorkerApi>;
  readonly abortable: AbortableCalls["abortable"];
  readonly end: (code: "vault_locked" | "vault_unavailable") => void;
}

/** What a client takes from the page and the device. */
export interface PageDeps {
  readonly environment: PageEnvironment;
  /** Until the vault locks itself. */
  readonly minutes?: number;
}

/**
 * The contract's vault over its workers, on the page. The script of the vault's worker runs at
 * once, since whoever makes a vault calls it; the account it is told at the first act. The engine
 * starts when that worker first needs it. A start that failed is forgotten, so that the next call
 * tries again. Locking ends the workers.
 */
export function createVaultClient(
  portal: PortalForServices,
  workers: WorkerStarter,
  { environment, minutes = autoLockMinutes.default }: PageDeps,
): VaultClient {
  const { vendorId } = portal;
  const { userId, issuer, subject, authTime } = portal.account;
  const deviceAccount = { vendorId, issuer, subject };
  const listeners = new Set<() => void>();
  let state: VaultState = { status: "unknown" };
  let running: Promise<RunningVault> | null = null;
  /**
   * The vault's worker, whose script runs before it is needed. It is told of nobody, and reads
   * nothing of the device, before the first act: whether the device is locked counts at that
   * moment. Null once it was taken; answers null when it did not start.
   */
  let prestarted: Promise<RunningWorker<VaultWorkerApi> | null> | null = workers.vault().catch(() => null);
  /** The newest sign-in that this tab knows of; seconds. */
  let lastSignIn = authTime ?? null;
  let signedOut = false;
  let lockedInTab = false;
  /** The newest writing down of activity. */
  let lastSave: Promise<void> = Promise.resolve();

  const idleLock = createIdleLock(
    {
      account: accountStorageKey(deviceAccount),
      minutes,
      lock: () => void lockSession(),
      save: (change) => {
        // best effort: a page loaded later locks sooner
        if (!signedOut) lastSave = saveActivity(change).catch(() => undefined);
      },
    },
    environment,
  );
  const autoLock: AutoLock = Object.freeze({ get: idleLock.getMinutes, set: idleLock.setMinutes });

  /**
   * Writes activity down, unless the device was locked meanwhile and this tab has not heard of it.
   */
  async function saveActivity(change: {
    readonly lastActivity?: number;
    readonly autoLockMinutes?: number;
  }): Promise<void> {
    if (change.lastActivity !== undefined && (await readDeviceRecord(deviceAccount)).locked) await lockSession();
    else await saveAutoLockState(deviceAccount, change);
  }

  /** Ends the workers, and leaves the lock on the device for a page loaded later. */
  async function lockSession(): Promise<void> {
    releaseAllOpeners();
    lockedInTab = true; // a worker that is asked for before the device has kept it starts locked too
    idleLock.pause();
    const pendingLock = { at: environment.now(), signIn: lastSignIn };
    environment.pendingLock.set(pendingLock); // the page may be gone before the device has it
    const saved = savePendingLock(pendingLock); // at once: a tab that is starting looks at it
    await Promise.all([endWorkers(), saved]).finally(() => {
      if (state.status === "unlocked") setState({ status: "locked" });
    });
  }

  async function savePendingLock({ at, signIn }: PendingLock): Promise<void> {
    await markLocked(deviceAccount, at, signIn);
    environment.pendingLock.set(null);
  }

  function setState(next: VaultState): void {
    state = next;
    if (next.status === "unlocked") {
      lockedInTab = false;
      environment.pendingLock.set(null);
      idleLock.watch();
    } else idleLock.pause();
    for (const listener of listeners) listener();
  }

  function ensureRunning(): Promise<RunningVault> {
    if (signedOut) return Promise.reject(new PortalError("vault_unavailable"));
    if (running !== null) return running;
    const current: Promise<RunningVault> = startVault().catch((error: unknown) => {
      if (running === current) running = null;
      throw toPortalError(error);
    });
    running = current;
    return current;
  }

  /**
   * On an own device a sign-in that is not older than the lock undoes it, whether it was asked for
   * here or led to this page.
   */
  async function unlockAfterSignIn(): Promise<void> {
    const pendingLock = environment.pendingLock.get();
    if (pendingLock !== null) await savePendingLock(pendingLock); // by a page that was gone before the device had it
    await finishLock(deviceAccount, environment.now());
    const record = await readDeviceRecord(deviceAccount);
    const lockedAt = lockedSince(record, environment.now());
    if (
      lockedInTab ||
      record.kind !== "own" ||
      record.metadataKeys === null ||
      lockedAt === null ||
      authTime === undefined
    )
      return;
    if (isSignInAfterLock(record, lockedAt, authTime)) await markUnlocked(deviceAccount, environment.now());
  }

  /** The worker whose script runs already, or else a new one. */
  async function takePrestartedWorker(): Promise<RunningWorker<VaultWorkerApi>> {
    const worker = prestarted;
    prestarted = null;
    return (await worker) ?? workers.vault();
  }

  async function startVault(): Promise<RunningVault> {
    const worker = await takePrestartedWorker();
    const [pageChannel, engineChannel] = [new MessageChannel(), new MessageChannel()];
    const engine = createPageEngine(workers.engine, engineChannel.port1, () => {
      stop("vault_unavailable"); // the channel is gone with it: both start anew
    });
    let ended = false;
    const { abortable, abort } = createAbortableCalls();

    const runningVault: RunningVault = {
      worker,
      abortable,
      end: (code) => {
        if (ended) return;
        ended = true;
        abort(new PortalError(code));
        worker.end();
        pageChannel.port1.close();
        engine.end();
      },
    };
    void worker.failure.then(() => {
      stop("vault_unavailable");
    });
    const pageApi: VaultPage = {
      ...createPageHttp(portal.http),
      startEngine: engine.ensure,
      kitFile: workers.kitFile,
      onStateChange: (next) => {
        if (!ended) setState(next);
      },
    };
    serveCalls(pageApi, pageChannel.port1);
    const [pagePort, enginePort] = [pageChannel.port2, engineChannel.port2];
    await unlockAfterSignIn();
    const locked = lockedInTab || (await readDeviceRecord(deviceAccount)).locked;
    await abortable(
      worker.remote.start(
        { userId, ...deviceAccount, locked },
        Comlink.transfer(pagePort, [pagePort]),
        Comlink.transfer(enginePort, [enginePort]),
      ),
    );
    if (!locked && (await readDeviceRecord(deviceAccount)).locked) {
      runningVault.end("vault_locked"); // it may have looked at the device before the lock was kept
      return startVault();
    }
    return runningVault;

    function stop(code: "vault_locked" | "vault_unavailable"): void {
      runningVault.end(code);
      clearRunning();
      if (state.status === "unlocked") setState({ status: "locked" });
    }
  }

  function clearRunning(): void {
    running = null;
  }

  /**
   * A member of the contract that is an act of the worker, with the same arguments and the same
   * answer.
   */
  function callWorker<Arguments extends readonly unknown[], Result>(
    operation: (worker: Comlink.Remote<VaultWorkerApi>) => (...args: Arguments) => Promise<Result>,
  ): (...args: Arguments) => Promise<Result> {
    return async (...args) => {
      const signal = findSignal(args);
      throwIfCancelled(signal);
      const { worker, abortable } = await ensureRunning();
      throwIfCancelled(signal);
      return abortable(operation(worker.remote)(...args));
    };
  }

  const transfers = createTransfers({
    account: deviceAccount,
    http: portal.http,
    startWorker: workers.transfer,
    operations: {
      begin: callWorker((worker) => worker.beginUpload),
      finish: callWorker((worker) => worker.finishUpload),
      restart: callWorker((worker) => worker.restartUpload),
      discard: callWorker((worker) => worker.discardUpload),
      waitUntilUnlocked,
    },
  });

  async function waitUntilUnlocked(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const settleIfReady = (): void => {
        if (!signedOut && signal?.aborted !== true && state.status !== "unlocked") return;
        listeners.delete(settleIfReady);
        signal?.removeEventListener("abort", settleIfReady);
        if (signal?.aborted === true) reject(new PortalError("cancelled", { cause: signal.reason }));
        else if (signedOut) reject(new PortalError("vault_unavailable"));
        else resolve();
      };
      listeners.add(settleIfReady);
      signal?.addEventListener("abort", settleIfReady, { once: true });
      settleIfReady();
    });
  }

  async function endWorkers(): Promise<void> {
    const transfersLocked = transfers.lock();
    const [previous, unused] = [running, prestarted];
    [running, prestarted] = [null, null];
    void unused?.then((worker) => {
      worker?.end();
    });
    await previous?.then(
      (runningVault) => {
        runningVault.end("vault_locked");
      },
      () => undefined, // it never started: nothing to end
    );
    await transfersLocked;
  }

  const operations = {
    refresh: callWorker<[], VaultState>((worker) => worker.refresh),
    list: callWorker((worker) => worker.list),
    protect: callWorker((worker) => worker.protect),
    update: callWorker((worker) => worker.update),
    openSecret: callWorker((worker) => worker.openSecret),
    acceptOlderState: callWorker((worker) => worker.acceptOlderState),
    restoreVersion: callWorker((worker) => worker.restoreVersion),
    unlock: callWorker((worker) => worker.unlock),
    exportSecrets: callWorker((worker) => worker.exportSecrets),
    createKit: callWorker((worker) => worker.createKit),
    addOpener: callWorker((worker) => worker.addOpener),
    resealForAllOpeners: callWorker((worker) => worker.resealForAllOpeners),
    removeOpener: callWorker((worker) => worker.removeOpener),
    recognise: callWorker((worker) => worker.recognise),
    rotate: callWorker((worker) => worker.rotate),
    replaceImage: callWorker((worker) => worker.replaceImage),
    offerDevice: callWorker((worker) => worker.offerDevice),
    joinDevice: callWorker((worker) => worker.joinDevice),
    admitDevice: callWorker((worker) => worker.admitDevice),
    checkCopy: callWorker((worker) => worker.checkCopy),
  };

  // A handle is exchanged for its picture before anything else: one that stands for nothing reaches
  // no worker.
  return {
    getState: () => state,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    refresh: operations.refresh,
    list: async (options) => {
      const newestFirst: SecretRow[] = [];
      await operations.list({
        ...options,
        onRows: (rows, progress) => {
          newestFirst.push(...rows);
          options?.onRows?.(rows, progress);
        },
      });
      return newestFirst.reverse();
    },
    listImages: callWorker((worker) => worker.listImages),
    protect: async (input, options) => {
      const request = { ...input, protection: resolveProtection(input.protection) };
      return request.content.size > maxSmallContentBytes
        ? transfers.protect(request, options)
        : operations.protect(request, options);
    },
    update: async (secretId, input, options) => {
      const change = resolveChange(input);
      const { content } = change;
      return content !== undefined && content.content.size > maxSmallContentBytes
        ? transfers.update(secretId, { ...change, content }, options)
        : operations.update(secretId, change, options);
    },
    listVersions: callWorker((worker) => worker.listVersions),
    removeVersions: callWorker((worker) => worker.removeVersions),
    restoreVersion: async (secretId, version, opener, options) =>
      operations.restoreVersion(secretId, version, requirePresented(opener), options),
    purge: callWorker((worker) => worker.purge),
    listUploads: callWorker((worker) => worker.listUploads),
    resumeUpload: async (uploadId, file, { protection, ...options } = {}) =>
      transfers.resume(uploadId, file, protection === undefined ? null : resolveProtection(protection), options),
    restartUpload: transfers.restart,
    discardUpload: transfers.discard,
    unlockBySignIn: async () => {
      if (signedOut) throw new PortalError("vault_unavailable");
      if (state.status === "unlocked") return;
      await finishLock(deviceAccount, environment.now());
      const record = await readDeviceRecord(deviceAccount);
      if (record.metadataKeys === null)
        throw new PortalError(state.status === "empty" ? "no_keyring" : "opener_needed");
      const lockedAt = lockedSince(record, environment.now()); // null: another tab was unlocked since
      if (lockedAt !== null) {
        const signIn = await portal.signInAgain();
        lastSignIn = signIn.authTime;
        if (!isSignInAfterLock(record, lockedAt, signIn.authTime)) throw new PortalError("login_required");
        await markUnlocked(deviceAccount, environment.now());
      }
      lockedInTab = false;
      await endWorkers(); // the worker that was started locked
      await operations.refresh();
    },
    autoLock,
    unlock: async (opener, options) => operations.unlock(requirePresented(opener), options),
    openSecret: async (secretId, opener, options) =>
      toOpenedSecret(await operations.openSecret(secretId, requirePresented(opener), options)),
    checkCopy: async (secretId, handle, options) => operations.checkCopy(secretId, requirePresented(handle), options),
    exportSecrets: async (secretIds, opener, options) =>
      operations.exportSecrets(secretIds, requirePresented(opener), options),
    createKit: async (secretIds, opener, options) =>
      operations.createKit(secretIds, requirePresentedPicture(opener), options),
    imports: createVaultImports({ callWorker, startReader: workers.importReader, transfers }),
    openers: Object.freeze<Vault["openers"]>({
      list: callWorker((worker) => worker.listOpeners),
      generateRecoveryCode: callWorker((worker) => worker.generateRecoveryCode),
      add: async ({ handle, name }, opener, options) =>
        operations.addOpener(
          { key: requirePresentedKey(handle), name },
          opener === null ? null : requirePresented(opener),
          options,
        ),
      resealForAllOpeners: async (opener, options) => operations.resealForAllOpeners(requirePresented(opener), options),
      remove: async (openerId, opener, options) => operations.removeOpener(openerId, requirePresented(opener), options),
      recognise: async (opener, options) => operations.recognise(requirePresented(opener), options),
      rotate: async (openers, options) => operations.rotate(openers.map(requirePresented), options),
      replaceImage: async (opener, { handle, name }, options) =>
        operations.replaceImage(
          requirePresentedPicture(opener),
          { presentedPicture: requirePresentedPicture(handle), name },
          options,
        ),
    }),
    accountReset: createVaultAccountReset({ portal, reset: callWorker((worker) => worker.resetAccount) }),
    deviceLinks: Object.freeze<Vault["deviceLinks"]>({
      offer: async ({ handle, name }, options) =>
        operations.offerDevice({ key: requirePresentedKey(handle), name }, options),
      join: async (offer, handle, options) => operations.joinDevice(offer, requirePresentedKey(handle), options),
      inspect: callWorker((worker) => worker.inspectRequestingDevice),
      approve: async (code, opener, options) => operations.admitDevice(code, requirePresented(opener), options),
    }),
    setDeviceKind: callWorker((worker) => worker.setDeviceKind),
    setFavorite: callWorker((worker) => worker.setFavorite),
    trash: callWorker((worker) => worker.trash),
    restore: callWorker((worker) => worker.restore),
    lock: async () => {
      idleLock.broadcastLock();
      await lockSession();
    },
    signOut: async () => {
      signedOut = true;
      releaseAllOpeners();
      idleLock.dispose();
      await endWorkers();
      await Promise.all([transfers.end(), lastSave]);
      setState({ status: "unknown" });
    },
    acceptOlderState: async ({ details }) => {
      const parsedDetails = OlderStateDetails.safeParse(details);
      if (parsedDetails.success)
        await operations.acceptOlderState({
          stateRev: parsedDetails.data.given,
          stateSha256: parsedDetails.data.given_sha256,
        });
    },
    archiveDeviceRecord: async () => {
      await endWorkers();
      await archiveDeviceRecord(deviceAccount);
      await operations.refresh();
    },
    ...createVaultSharing({ callWorker, bindOpenedContent, origin: environment.origin }),
    releaseOpener,
    examine: callWorker((worker) => worker.examine),
  };

  /** What stays in the worker is asked of the worker that opened it, and of no later one. */
  async function bindOpenedContent(
    openedId: string,
    { content, mime }: Pick<OpenedContent, "content" | "mime">,
  ): Promise<Pick<OpenedContent, "save" | "dispose">> {
    const { worker, abortable } = await ensureRunning();
    return createOpenedContent({ openedId, content, mime }, { remote: worker.remote, abortable }, transfers);
  }

  async function toOpenedSecret({ openedId, ...secret }: TransferredSecret): Promise<OpenedSecret> {
    const { worker, abortable } = await ensureRunning();
    const contentActions = await bindOpenedContent(openedId, secret);
    return { ...secret, ...contentActions, exportAgeFile: () => abortable(worker.remote.exportAgeFile(openedId)) };
  }
}
