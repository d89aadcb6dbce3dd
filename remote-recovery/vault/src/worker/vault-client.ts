import { createGone, type Gone } from "@relicario/engine/worker-gone";
import { serveCalls, signalAmong } from "@relicario/engine/worker-calls";
import { Counter, Digest, maxSmallContentBytes } from "@relicario/shared/api";
import {
  accountName,
  autoLockMinutes,
  type AutoLock,
  type CallOptions,
  type DeviceAccount,
  type OpenedContent,
  type PortalForServices,
  type RecoveredSecret,
  type SecretRow,
  type Vault,
  type VaultState,
} from "@relicario/shared/contract";
import { isPortalError, PortalError, toPortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";
import { z } from "zod";

import type { PictureVerdict } from "../acts/examine.ts";
import {
  finishLock,
  isAfterLock,
  lockedSince,
  markLocked,
  markUnlocked,
  noteOnDevice,
  readDevice,
  setDeviceAside,
} from "../device/device.ts";
import { createIdleLock, pageSurroundings, type MarkedLock, type Surroundings } from "../device/idle.ts";
import { importsOnPage } from "../imports/imports-on-page.ts";
import {
  forgetAllShown,
  forgetShown,
  requireChange,
  requireKey,
  requirePicture,
  requireProtection,
  requireShown,
} from "../shown-image.ts";
import { createTransfers } from "../transfer/transfer-client.ts";
import { refuseCancelled } from "../cancelled.ts";
import { engineOnPage } from "./engine-on-page.ts";
import { openedOnPage } from "./opened-on-page.ts";
import { pageHttp } from "./port-http.ts";
import { browserWorkers, type RunningWorker, type WorkerStarter } from "./start-workers.ts";
import { startAnewOnPage } from "./start-anew-on-page.ts";
import { sharingOnPage } from "./sharing-on-page.ts";
import type { OpenedByWorker, VaultPage, VaultWorkerApi } from "./vault-worker-api.ts";

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
  const minutes = await keptMinutes({ vendorId: portal.vendorId, issuer, subject });
  return createVaultClient(portal, browserWorkers, { surroundings: pageSurroundings, minutes });
}

/** A record that cannot be read is told by the first act, which the person can answer. */
async function keptMinutes(account: DeviceAccount): Promise<number> {
  try {
    return (await readDevice(account)).autoLockMinutes;
  } catch (error) {
    if (isPortalError(error, "device_record_unreadable")) return autoLockMinutes.usual;
    throw error;
  }
}

/** What an `older_state` says of the state that it is about. */
const OlderStateDetails = z.looseObject({ given: Counter, given_sha256: Digest });

/** The vault's worker. */
interface Running {
  readonly worker: RunningWorker<VaultWorkerApi>;
  readonly orGone: Gone["orGone"];
  readonly end: (code: "vault_locked" | "vault_unavailable") => void;
}

/** What a client takes from the page and the device. */
export interface PageParts {
  readonly surroundings: Surroundings;
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
  { surroundings, minutes = autoLockMinutes.usual }: PageParts,
): VaultClient {
  const { vendorId } = portal;
  const { userId, issuer, subject, authTime } = portal.account;
  const device = { vendorId, issuer, subject };
  const listeners = new Set<() => void>();
  let state: VaultState = { status: "unknown" };
  let running: Promise<Running> | null = null;
  /**
   * The vault's worker, whose script runs before it is needed. It is told of nobody, and reads
   * nothing of the device, before the first act: whether the device is locked counts at that
   * moment. Null once it was taken; answers null when it did not start.
   */
  let waiting: Promise<RunningWorker<VaultWorkerApi> | null> | null = workers.vault().catch(() => null);
  /** The newest sign-in that this tab knows of; seconds. */
  let signedIn = authTime ?? null;
  let signedOut = false;
  let lockedHere = false;
  /** The newest writing down of activity. */
  let keeping: Promise<void> = Promise.resolve();

  const idle = createIdleLock(
    {
      account: accountName(device),
      minutes,
      lock: () => void putAway(),
      keep: (change) => {
        if (!signedOut) keeping = keep(change).catch(() => undefined); // best effort: a page loaded later locks sooner
      },
    },
    surroundings,
  );
  const autoLock: AutoLock = Object.freeze({ get: idle.getMinutes, set: idle.setMinutes });

  /**
   * Writes activity down, unless the device was locked meanwhile and this tab has not heard of it.
   */
  async function keep(change: { readonly lastActivity?: number; readonly autoLockMinutes?: number }): Promise<void> {
    if (change.lastActivity !== undefined && (await readDevice(device)).locked) await putAway();
    else await noteOnDevice(device, change);
  }

  /** Ends the workers, and leaves the lock on the device for a page loaded later. */
  async function putAway(): Promise<void> {
    forgetAllShown();
    lockedHere = true; // a worker that is asked for before the device has kept it starts locked too
    idle.rest();
    const lock = { at: surroundings.now(), signIn: signedIn };
    surroundings.lockMark.set(lock); // the page may be gone before the device has it
    const kept = keepLock(lock); // at once: a tab that is starting looks at it
    await Promise.all([end(), kept]).finally(() => {
      if (state.status === "unlocked") setState({ status: "locked" });
    });
  }

  async function keepLock({ at, signIn }: MarkedLock): Promise<void> {
    await markLocked(device, at, signIn);
    surroundings.lockMark.set(null);
  }

  function setState(next: VaultState): void {
    state = next;
    if (next.status === "unlocked") {
      lockedHere = false;
      surroundings.lockMark.set(null);
      idle.watch();
    } else idle.rest();
    for (const listener of listeners) listener();
  }

  function ensureRunning(): Promise<Running> {
    if (signedOut) return Promise.reject(new PortalError("vault_unavailable"));
    if (running !== null) return running;
    const starting: Promise<Running> = start().catch((error: unknown) => {
      if (running === starting) running = null;
      throw toPortalError(error);
    });
    running = starting;
    return starting;
  }

  /**
   * On an own device a sign-in that is not older than the lock undoes it, whether it was asked for
   * here or led to this page.
   */
  async function followSignIn(): Promise<void> {
    const marked = surroundings.lockMark.get();
    if (marked !== null) await keepLock(marked); // by a page that was gone before the device had it
    await finishLock(device, surroundings.now());
    const record = await readDevice(device);
    const since = lockedSince(record, surroundings.now());
    if (lockedHere || record.kind !== "own" || record.titlesKeys === null || since === null || authTime === undefined)
      return;
    if (isAfterLock(record, since, authTime)) await markUnlocked(device, surroundings.now());
  }

  /** The worker whose script runs already, or else a new one. */
  async function takeWorker(): Promise<RunningWorker<VaultWorkerApi>> {
    const taken = waiting;
    waiting = null;
    return (await taken) ?? workers.vault();
  }

  async function start(): Promise<Running> {
    const worker = await takeWorker();
    const [page, engineChannel] = [new MessageChannel(), new MessageChannel()];
    const engine = engineOnPage(workers.engine, engineChannel.port1, () => {
      stop("vault_unavailable"); // the channel is gone with it: both start anew
    });
    let ended = false;
    const { orGone, say } = createGone();

    const one: Running = {
      worker,
      orGone,
      end: (code) => {
        if (ended) return;
        ended = true;
        say(new PortalError(code));
        worker.end();
        page.port1.close();
        engine.end();
      },
    };
    void worker.failed.then(() => {
      stop("vault_unavailable");
    });
    const answers: VaultPage = {
      ...pageHttp(portal.http),
      startEngine: engine.ensure,
      kitFile: workers.kitFile,
      tell: (next) => {
        if (!ended) setState(next);
      },
    };
    serveCalls(answers, page.port1);
    const [pagePort, enginePort] = [page.port2, engineChannel.port2];
    await followSignIn();
    const locked = lockedHere || (await readDevice(device)).locked;
    await orGone(
      worker.remote.start(
        { userId, ...device, locked },
        Comlink.transfer(pagePort, [pagePort]),
        Comlink.transfer(enginePort, [enginePort]),
      ),
    );
    if (!locked && (await readDevice(device)).locked) {
      one.end("vault_locked"); // it may have looked at the device before the lock was kept
      return start();
    }
    return one;

    function stop(code: "vault_locked" | "vault_unavailable"): void {
      one.end(code);
      forget();
      if (state.status === "unlocked") setState({ status: "locked" });
    }
  }

  function forget(): void {
    running = null;
  }

  /**
   * A member of the contract that is an act of the worker, with the same arguments and the same
   * answer.
   */
  function inWorker<Given extends readonly unknown[], Answer>(
    act: (worker: Comlink.Remote<VaultWorkerApi>) => (...given: Given) => Promise<Answer>,
  ): (...given: Given) => Promise<Answer> {
    return async (...given) => {
      const signal = signalAmong(given);
      refuseCancelled(signal);
      const { worker, orGone } = await ensureRunning();
      refuseCancelled(signal);
      return orGone(act(worker.remote)(...given));
    };
  }

  const transfers = createTransfers({
    account: device,
    http: portal.http,
    startWorker: workers.transfer,
    acts: {
      begin: inWorker((worker) => worker.beginUpload),
      finish: inWorker((worker) => worker.finishUpload),
      restart: inWorker((worker) => worker.restartUpload),
      discard: inWorker((worker) => worker.discardUpload),
      unlocked,
    },
  });

  async function unlocked(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        if (!signedOut && signal?.aborted !== true && state.status !== "unlocked") return;
        listeners.delete(settle);
        signal?.removeEventListener("abort", settle);
        if (signal?.aborted === true) reject(new PortalError("cancelled", { cause: signal.reason }));
        else if (signedOut) reject(new PortalError("vault_unavailable"));
        else resolve();
      };
      listeners.add(settle);
      signal?.addEventListener("abort", settle, { once: true });
      settle();
    });
  }

  async function end(): Promise<void> {
    const opening = transfers.lock();
    const [before, unused] = [running, waiting];
    [running, waiting] = [null, null];
    void unused?.then((worker) => {
      worker?.end();
    });
    await before?.then(
      (one) => {
        one.end("vault_locked");
      },
      () => undefined, // it never started: nothing to end
    );
    await opening;
  }

  const acts = {
    refresh: inWorker<[], VaultState>((worker) => worker.refresh),
    list: inWorker((worker) => worker.list),
    protect: inWorker((worker) => worker.protect),
    update: inWorker((worker) => worker.update),
    recover: inWorker((worker) => worker.recover),
    acceptOlderState: inWorker((worker) => worker.acceptOlderState),
    restoreVersion: inWorker((worker) => worker.restoreVersion),
    unlock: inWorker((worker) => worker.unlock),
    exportSecrets: inWorker((worker) => worker.exportSecrets),
    makeKit: inWorker((worker) => worker.makeKit),
    addOpener: inWorker((worker) => worker.addOpener),
    cover: inWorker((worker) => worker.cover),
    removeOpener: inWorker((worker) => worker.removeOpener),
    recognise: inWorker((worker) => worker.recognise),
    rotate: inWorker((worker) => worker.rotate),
    changeImage: inWorker((worker) => worker.changeImage),
    offerDevice: inWorker((worker) => worker.offerDevice),
    joinDevice: inWorker((worker) => worker.joinDevice),
    admitDevice: inWorker((worker) => worker.admitDevice),
    rehearse: inWorker((worker) => worker.rehearse),
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
    refresh: acts.refresh,
    list: async (options) => {
      const newestFirst: SecretRow[] = [];
      await acts.list({
        ...options,
        onRows: (rows, progress) => {
          newestFirst.push(...rows);
          options?.onRows?.(rows, progress);
        },
      });
      return newestFirst.reverse();
    },
    images: inWorker((worker) => worker.images),
    protect: async (given, options) => {
      const request = { ...given, protection: requireProtection(given.protection) };
      return request.content.size > maxSmallContentBytes
        ? transfers.protect(request, options)
        : acts.protect(request, options);
    },
    update: async (secretId, given, options) => {
      const change = requireChange(given);
      const { content } = change;
      return content !== undefined && content.content.size > maxSmallContentBytes
        ? transfers.update(secretId, { ...change, content }, options)
        : acts.update(secretId, change, options);
    },
    history: inWorker((worker) => worker.history),
    removeVersions: inWorker((worker) => worker.removeVersions),
    restoreVersion: async (secretId, version, opener, options) =>
      acts.restoreVersion(secretId, version, requireShown(opener), options),
    purge: inWorker((worker) => worker.purge),
    uploads: inWorker((worker) => worker.uploads),
    resumeUpload: async (uploadId, file, { protection, ...options } = {}) =>
      transfers.resume(uploadId, file, protection === undefined ? null : requireProtection(protection), options),
    restartUpload: transfers.restart,
    discardUpload: transfers.discard,
    unlockByPresence: async () => {
      if (signedOut) throw new PortalError("vault_unavailable");
      if (state.status === "unlocked") return;
      await finishLock(device, surroundings.now());
      const record = await readDevice(device);
      if (record.titlesKeys === null) throw new PortalError(state.status === "empty" ? "no_keyring" : "opener_needed");
      const since = lockedSince(record, surroundings.now()); // null: another tab was unlocked since
      if (since !== null) {
        const again = await portal.signInAgain();
        signedIn = again.authTime;
        if (!isAfterLock(record, since, again.authTime)) throw new PortalError("login_required");
        await markUnlocked(device, surroundings.now());
      }
      lockedHere = false;
      await end(); // the worker that was started locked
      await acts.refresh();
    },
    autoLock,
    unlock: async (opener, options) => acts.unlock(requireShown(opener), options),
    recover: async (secretId, opener, options) => present(await acts.recover(secretId, requireShown(opener), options)),
    rehearse: async (secretId, shown, options) => acts.rehearse(secretId, requireShown(shown), options),
    exportSecrets: async (secretIds, opener, options) => acts.exportSecrets(secretIds, requireShown(opener), options),
    makeKit: async (secretIds, opener, options) => acts.makeKit(secretIds, requirePicture(opener), options),
    imports: importsOnPage({ inWorker, startReader: workers.importReader, transfers }),
    openers: Object.freeze<Vault["openers"]>({
      list: inWorker((worker) => worker.listOpeners),
      newRecoveryCode: inWorker((worker) => worker.newRecoveryCode),
      add: async ({ shown, name }, opener, options) =>
        acts.addOpener({ key: requireKey(shown), name }, opener === null ? null : requireShown(opener), options),
      cover: async (opener, options) => acts.cover(requireShown(opener), options),
      remove: async (openerId, opener, options) => acts.removeOpener(openerId, requireShown(opener), options),
      recognise: async (opener, options) => acts.recognise(requireShown(opener), options),
      rotate: async (openers, options) => acts.rotate(openers.map(requireShown), options),
      changeImage: async (opener, { shown, name }, options) =>
        acts.changeImage(requirePicture(opener), { shown: requirePicture(shown), name }, options),
    }),
    startAnew: startAnewOnPage({ portal, begin: inWorker((worker) => worker.beginAnew) }),
    deviceLinks: Object.freeze<Vault["deviceLinks"]>({
      offer: async ({ shown, name }, options) => acts.offerDevice({ key: requireKey(shown), name }, options),
      join: async (offer, shown, options) => acts.joinDevice(offer, requireKey(shown), options),
      look: inWorker((worker) => worker.askingDevice),
      admit: async (code, opener, options) => acts.admitDevice(code, requireShown(opener), options),
    }),
    answerDevice: inWorker((worker) => worker.answerDevice),
    setFavorite: inWorker((worker) => worker.setFavorite),
    trash: inWorker((worker) => worker.trash),
    restore: inWorker((worker) => worker.restore),
    lock: async () => {
      idle.tellLocked();
      await putAway();
    },
    signOut: async () => {
      signedOut = true;
      forgetAllShown();
      idle.dispose();
      await end();
      await Promise.all([transfers.end(), keeping]);
      setState({ status: "unknown" });
    },
    acceptOlderState: async ({ details }) => {
      const alarm = OlderStateDetails.safeParse(details);
      if (alarm.success)
        await acts.acceptOlderState({ stateRev: alarm.data.given, stateSha256: alarm.data.given_sha256 });
    },
    setDeviceAside: async () => {
      await end();
      await setDeviceAside(device);
      await acts.refresh();
    },
    ...sharingOnPage({ inWorker, held, origin: surroundings.origin }),
    forgetShown,
    examine: inWorker((worker) => worker.examine),
  };

  /** What stays in the worker is asked of the worker that opened it, and of no later one. */
  async function held(
    openedId: string,
    { content, mime }: Pick<OpenedContent, "content" | "mime">,
  ): Promise<Pick<OpenedContent, "save" | "putAway">> {
    const { worker, orGone } = await ensureRunning();
    return openedOnPage({ openedId, content, mime }, { remote: worker.remote, orGone }, transfers);
  }

  async function present({ openedId, ...secret }: OpenedByWorker): Promise<RecoveredSecret> {
    const { worker, orGone } = await ensureRunning();
    const here = await held(openedId, secret);
    return { ...secret, ...here, exportAge: () => orGone(worker.remote.exportAge(openedId)) };
  }
}
