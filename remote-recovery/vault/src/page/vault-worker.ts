import { createAbortableCalls } from "@relicario/engine/abortable-calls";
import { serveCalls } from "@relicario/engine/worker-calls";
import {
  buildAccountStorageKey,
  type AutoLock,
  type KeepOpenDuration,
  type StrengthLevel,
  type Vault,
  type VaultState,
} from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { saveDeviceSettings } from "../device/device.ts";
import { createIdleLock, type PageEnvironment } from "../device/idle-lock.ts";
import { releaseAllOpeners } from "../rpc/presented-opener.ts";
import type { CallableWorker } from "../rpc/call-running.ts";
import { createPageHttp } from "../rpc/page-http.ts";
import { createRestartable } from "../rpc/restartable.ts";
import { raceFailure, type RunningWorker } from "../rpc/start-worker.ts";
import type { VaultPage, VaultWorkerApi } from "../worker/vault-worker-api.ts";
import type { WorkerStarter } from "./browser-workers.ts";
import { createDeviceLock } from "./device-lock.ts";
import { createOpenerTimer } from "./keep-open.ts";
import { createPageEngine } from "./page-engine.ts";
import type { VaultPortal } from "./vault-portal.ts";

interface RunningVault extends CallableWorker<VaultWorkerApi> {
  readonly end: (code: "vault_locked" | "vault_unavailable") => void;
}

/** Starts and ends the vault's worker: on creation, locks, failures and sign-out. */
export interface VaultWorker extends Pick<
  Vault,
  "getState" | "subscribe" | "autoLock" | "keepOpen" | "lock" | "signOut"
> {
  /** Returns the running worker, or starts one. After a failed start, the next call tries again. */
  readonly ensure: () => Promise<RunningVault>;
  /** Ends the worker. The next call starts another one, locked if the device then is. */
  readonly end: () => Promise<void>;
  /**
   * {@link Vault.unlockBySignIn} without the refresh. Returns false if the vault was already
   * unlocked.
   */
  readonly unlockBySignIn: () => Promise<boolean>;
  /**
   * Resolves when the vault is unlocked. Rejects with `cancelled`, or with `vault_unavailable`
   * after sign-out.
   */
  readonly waitUntilUnlocked: (signal: AbortSignal | undefined) => Promise<void>;
}

/** Settings that the device stores. */
export interface VaultDeviceSettings {
  /** Minutes of the auto-lock. */
  readonly minutes: number;
  readonly keepOpen: KeepOpenDuration;
}

interface VaultWorkerDeps {
  readonly portal: VaultPortal;
  readonly workers: Pick<WorkerStarter, "vault" | "engine" | "strength" | "kitFile">;
  readonly environment: PageEnvironment;
  readonly settings: VaultDeviceSettings;
  /** Called when what is kept open may have changed. */
  readonly onKeepOpenChange: () => void;
  /** Called when this worker ends, because downloads hold plaintext in memory. */
  readonly lockDownloads: () => Promise<void>;
  /** Called at sign-out. Not called at a lock, because uploads continue while locked. */
  readonly endUploads: () => Promise<void>;
}

/**
 * Loads the worker's script immediately, because a call will follow. The first operation starts the
 * worker with the account. The engine starts when the worker first needs it. A lock ends the
 * workers.
 */
export function createVaultWorker({
  portal,
  workers,
  environment,
  settings,
  onKeepOpenChange,
  lockDownloads,
  endUploads,
}: VaultWorkerDeps): VaultWorker {
  const { vendorId } = portal;
  const { userId, issuer, subject, authTime } = portal.account;
  const account = { vendorId, issuer, subject };
  const listeners = new Set<() => void>();
  const deviceLock = createDeviceLock(account, authTime, environment);
  const restartableVault = createRestartable(start);
  let state: VaultState = { status: "unknown" };
  /**
   * A worker whose script was loaded in advance. It has no account and does not read the device
   * before the first operation, because only then is the lock checked. The promise is null after
   * use, and resolves to null if the worker did not start.
   */
  let prestartPromise: Promise<RunningWorker<VaultWorkerApi> | null> | null = workers.vault().catch(() => null);
  let signedOut = false;
  let lastSavePromise: Promise<void> = Promise.resolve();

  const idleLock = createIdleLock(
    {
      storageKey: buildAccountStorageKey(account),
      minutes: settings.minutes,
      lock: () => void lockSession(),
      save: (change) => {
        // best effort: if this fails, a page loaded later locks sooner
        if (!signedOut) lastSavePromise = saveActivity(change).catch(() => undefined);
      },
    },
    environment,
  );
  let releaseKeptOpener: () => void = () => undefined;
  const openerTimer = createOpenerTimer({
    account,
    duration: settings.keepOpen,
    environment,
    release: () => {
      releaseKeptOpener();
    },
    onChange: onKeepOpenChange,
  });
  const autoLock: AutoLock = Object.freeze({ get: idleLock.getMinutes, set: idleLock.setMinutes });

  /**
   * Saves activity. Locks instead if another tab has locked the device and its message was lost.
   */
  async function saveActivity(change: {
    readonly lastActivity?: number;
    readonly autoLockMinutes?: number;
  }): Promise<void> {
    if (change.lastActivity !== undefined && (await deviceLock.isDeviceLocked())) await lockSession();
    else await saveDeviceSettings(account, change);
  }

  async function lockSession(): Promise<void> {
    releaseAllOpeners();
    idleLock.pause();
    const savePromise = deviceLock.lock();
    await Promise.all([end(), savePromise]).finally(showLocked);
  }

  function showLocked(): void {
    if (state.status === "unlocked") setState({ status: "locked" });
  }

  function setState(next: VaultState): void {
    state = next;
    if (next.status === "unlocked") {
      deviceLock.clear();
      idleLock.watch(); // until the worker ends, because it may have keys in any later state
    }
    for (const listener of listeners) listener();
  }

  async function takePrestartedWorker(): Promise<RunningWorker<VaultWorkerApi>> {
    const worker = prestartPromise;
    prestartPromise = null;
    return (await worker) ?? workers.vault();
  }

  async function start(onEnd: () => void): Promise<RunningVault> {
    const worker = await takePrestartedWorker();
    const [pageChannel, engineChannel] = [new MessageChannel(), new MessageChannel()];
    const { abortable, abort } = createAbortableCalls();
    let ended = false;

    function endWorker(code: "vault_locked" | "vault_unavailable"): void {
      if (ended) return;
      ended = true;
      abort(new PortalError(code));
      worker.end();
      pageChannel.port1.close();
      engine.end();
      openerTimer.end();
      releaseKeptOpener = () => undefined;
    }
    function fail(): void {
      if (ended) return;
      endWorker("vault_unavailable");
      onEnd();
      showLocked();
    }
    // a failed engine closes its channel, so both workers must be replaced
    const engine = createPageEngine(workers.engine, engineChannel.port1, fail);
    void worker.failure.then(fail);
    const pageApi: VaultPage = {
      ...createPageHttp(portal.http),
      startEngine: engine.ensure,
      estimateStrength: (passphrase) => estimateInWorker(workers.strength, passphrase),
      kitFile: workers.kitFile,
      onStateChange: (next) => {
        if (!ended) setState(next);
      },
      confirmMark: portal.confirmMark,
      keepOpenerUntil: openerTimer.start,
    };
    serveCalls(pageApi, pageChannel.port1);
    const [pagePort, enginePort] = [pageChannel.port2, engineChannel.port2];
    await deviceLock.unlockByReportedSignIn(portal.signInSilently);
    const locked = await deviceLock.isLocked();
    try {
      const hasKeys = await abortable(
        worker.remote.start(
          { userId, ...account, locked, origin: environment.origin() },
          Comlink.transfer(pagePort, [pagePort]),
          Comlink.transfer(enginePort, [enginePort]),
        ),
      );
      if (!locked && (await deviceLock.isDeviceLocked())) {
        endWorker("vault_locked"); // the worker may have read the device before the lock was saved
        return await start(onEnd);
      }
      releaseKeptOpener = () => {
        worker.remote.releaseKeptOpener().catch(() => undefined); // a worker that has ended keeps none
      };
      if (hasKeys) idleLock.watch(); // even if the state is not unlocked
    } catch (error) {
      endWorker("vault_unavailable");
      throw error;
    }
    return { remote: worker.remote, abortable, end: endWorker };
  }

  async function end(): Promise<void> {
    const downloadsPromise = lockDownloads();
    const unusedWorkerPromise = prestartPromise;
    prestartPromise = null;
    void unusedWorkerPromise?.then((worker) => {
      worker?.end();
    });
    (await restartableVault.release())?.end("vault_locked");
    await downloadsPromise;
  }

  return {
    getState: () => state,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    autoLock,
    keepOpen: openerTimer.keepOpen,
    ensure: () => (signedOut ? Promise.reject(new PortalError("vault_unavailable")) : restartableVault.ensure()),
    end,
    lock: async () => {
      idleLock.broadcastLock();
      await lockSession();
    },
    unlockBySignIn: async () => {
      if (signedOut) throw new PortalError("vault_unavailable");
      if (state.status === "unlocked") return false;
      if (!(await deviceLock.unlockByFreshSignIn(portal.signInToUnlock)))
        throw new PortalError(state.status === "empty" ? "no_keyring" : "opener_needed");
      await end(); // the locked worker
      return true;
    },
    signOut: async () => {
      signedOut = true;
      releaseAllOpeners();
      idleLock.dispose();
      await end();
      await Promise.all([endUploads(), lastSavePromise]);
      setState({ status: "unknown" });
    },
    waitUntilUnlocked: (signal) =>
      new Promise((resolve, reject) => {
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
      }),
  };
}

/** Ends the worker after one estimate, because its dictionaries occupy memory. */
async function estimateInWorker(start: WorkerStarter["strength"], passphrase: string): Promise<StrengthLevel> {
  const worker = await start();
  try {
    return await raceFailure(worker.failure, worker.remote.estimateStrength(passphrase));
  } finally {
    worker.end();
  }
}
