import { createAbortableCalls } from "@relicario/engine/abortable-calls";
import { serveCalls } from "@relicario/engine/worker-calls";
import {
  buildAccountStorageKey,
  type AutoLock,
  type PortalForServices,
  type Vault,
  type VaultState,
} from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { saveAutoLockState } from "../device/device.ts";
import { createIdleLock, type PageEnvironment } from "../device/idle-lock.ts";
import { releaseAllOpeners } from "../rpc/presented-opener.ts";
import type { CallableWorker } from "../rpc/call-running.ts";
import { createPageHttp } from "../rpc/page-http.ts";
import { createRestartable } from "../rpc/restartable.ts";
import type { RunningWorker } from "../rpc/start-worker.ts";
import type { VaultPage, VaultWorkerApi } from "../worker/vault-worker-api.ts";
import type { WorkerStarter } from "./browser-workers.ts";
import { createDeviceLock } from "./device-lock.ts";
import { createPageEngine } from "./page-engine.ts";
import type { Transfers } from "./transfer-client.ts";

/** The vault's worker that runs now. */
interface RunningVault extends CallableWorker<VaultWorkerApi> {
  readonly end: (code: "vault_locked" | "vault_unavailable") => void;
}

/** The life of the vault's worker: from the making of a vault, over locks, to the sign-out. */
export interface VaultWorker extends Pick<Vault, "getState" | "subscribe" | "autoLock" | "lock" | "signOut"> {
  /**
   * The one that runs, or a new one. A start that failed is forgotten, so that the next call tries
   * again.
   */
  readonly ensure: () => Promise<RunningVault>;
  /** Ends it: the next call starts another, by what the device says then. */
  readonly end: () => Promise<void>;
  /** {@link Vault.unlockBySignIn} but for the reading after it. False where it was unlocked. */
  readonly unlockBySignIn: () => Promise<boolean>;
  /**
   * Resolves while the vault is unlocked, or once it is. `cancelled`; `vault_unavailable` after
   * sign-out.
   */
  readonly waitUntilUnlocked: (signal: AbortSignal | undefined) => Promise<void>;
}

interface VaultWorkerDeps {
  readonly portal: PortalForServices;
  readonly workers: Pick<WorkerStarter, "vault" | "engine" | "kitFile">;
  readonly environment: PageEnvironment;
  /** Until the vault locks itself. */
  readonly minutes: number;
  /** They call this worker, and end with it. */
  readonly getTransfers: () => Pick<Transfers, "lock" | "end">;
}

/**
 * The worker's script runs at once, since whoever makes a vault calls it; the account it is told at
 * the first act. The engine starts when that worker first needs it. Locking ends the workers.
 */
export function createVaultWorker({
  portal,
  workers,
  environment,
  minutes,
  getTransfers,
}: VaultWorkerDeps): VaultWorker {
  const { vendorId } = portal;
  const { userId, issuer, subject, authTime } = portal.account;
  const account = { vendorId, issuer, subject };
  const listeners = new Set<() => void>();
  const deviceLock = createDeviceLock(account, authTime, environment);
  const runningVault = createRestartable(start);
  let state: VaultState = { status: "unknown" };
  /**
   * The vault's worker, whose script runs before it is needed. It is told of nobody, and reads
   * nothing of the device, before the first act: whether the device is locked counts at that
   * moment. Null once it was taken; answers null when it did not start.
   */
  let prestarted: Promise<RunningWorker<VaultWorkerApi> | null> | null = workers.vault().catch(() => null);
  let signedOut = false;
  /** The newest writing down of activity. */
  let lastSave: Promise<void> = Promise.resolve();

  const idleLock = createIdleLock(
    {
      account: buildAccountStorageKey(account),
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
    if (change.lastActivity !== undefined && (await deviceLock.isDeviceLocked())) await lockSession();
    else await saveAutoLockState(account, change);
  }

  /** Ends the workers, and leaves the lock on the device for a page loaded later. */
  async function lockSession(): Promise<void> {
    releaseAllOpeners();
    idleLock.pause();
    const saved = deviceLock.lock();
    await Promise.all([end(), saved]).finally(showLocked);
  }

  function showLocked(): void {
    if (state.status === "unlocked") setState({ status: "locked" });
  }

  function setState(next: VaultState): void {
    state = next;
    if (next.status === "unlocked") {
      deviceLock.clear();
      idleLock.watch();
    } else idleLock.pause();
    for (const listener of listeners) listener();
  }

  /** The worker whose script runs already, or else a new one. */
  async function takePrestartedWorker(): Promise<RunningWorker<VaultWorkerApi>> {
    const worker = prestarted;
    prestarted = null;
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
    }
    function fail(): void {
      if (ended) return;
      endWorker("vault_unavailable");
      onEnd();
      showLocked();
    }
    // with a failed engine its channel is gone: both start anew
    const engine = createPageEngine(workers.engine, engineChannel.port1, fail);
    void worker.failure.then(fail);
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
    await deviceLock.unlockByKnownSignIn();
    const locked = await deviceLock.isLocked();
    await abortable(
      worker.remote.start(
        { userId, ...account, locked, origin: environment.origin() },
        Comlink.transfer(pagePort, [pagePort]),
        Comlink.transfer(enginePort, [enginePort]),
      ),
    );
    if (!locked && (await deviceLock.isDeviceLocked())) {
      endWorker("vault_locked"); // it may have looked at the device before the lock was kept
      return start(onEnd);
    }
    return { remote: worker.remote, abortable, end: endWorker };
  }

  async function end(): Promise<void> {
    const transfersLocked = getTransfers().lock();
    const unused = prestarted;
    prestarted = null;
    void unused?.then((worker) => {
      worker?.end();
    });
    (await runningVault.release())?.end("vault_locked");
    await transfersLocked;
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
    ensure: () => (signedOut ? Promise.reject(new PortalError("vault_unavailable")) : runningVault.ensure()),
    end,
    lock: async () => {
      idleLock.broadcastLock();
      await lockSession();
    },
    unlockBySignIn: async () => {
      if (signedOut) throw new PortalError("vault_unavailable");
      if (state.status === "unlocked") return false;
      if (!(await deviceLock.unlockByFreshSignIn(portal.signInAgain)))
        throw new PortalError(state.status === "empty" ? "no_keyring" : "opener_needed");
      await end(); // the worker that was started locked
      return true;
    },
    signOut: async () => {
      signedOut = true;
      releaseAllOpeners();
      idleLock.dispose();
      await end();
      await Promise.all([getTransfers().end(), lastSave]);
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
