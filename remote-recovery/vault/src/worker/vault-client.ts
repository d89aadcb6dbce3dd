import { maxSmallContentBytes } from "@relicario/shared/api";
import { autoLockMinutes, type AutoLock, type CallOptions, type PortalForServices, type ProtectRequest, type RecoveredSecret, type RowsListener, type SecretRow, type Vault, type VaultState } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { carryPortalErrors } from "@relicario/engine/worker-calls";
import type { EngineWorkerApi } from "@relicario/engine/client";
import { accountName, leaveDevice, lockedSince, markLocked, markUnlocked, noteOnDevice, readDevice } from "../device/device.ts";
import { createIdleLock, type Surroundings } from "../device/idle.ts";
import { refuseCancelled } from "../vault-context.ts";
import { chosenFile, committed } from "../transfer/sinks.ts";
import { createTransfers } from "../transfer/transfer-client.ts";
import { servePageHttp } from "./port-http.ts";
import type { RunningWorker, WorkerStarter } from "./start-workers.ts";
import type { CallId, OpenedByWorker, ProgressListener, VaultWorkerApi } from "./vault-worker-api.ts";

/** The vault's worker with its half of the channel to the engine. */
interface Running {
  readonly worker: RunningWorker<VaultWorkerApi>;
  /** The engine's end of the channel, until the engine is there to take it. */
  readonly engine: () => Promise<void>;
  /** Rejects when the worker is ended or fails: a call to a worker that is gone would never settle. */
  readonly gone: Promise<never>;
  readonly end: (code: "vault_locked" | "vault_unavailable") => void;
}

/** What a client has of the page, and what this device was told before. */
export interface PageParts {
  readonly surroundings: Surroundings;
  /** Until the vault locks itself. */
  readonly minutes?: number;
}

/**
 * The contract's vault over its workers, on the page. The vault's own worker starts at once, since whoever makes a vault
 * calls it; the engine starts with the first call that looks at a picture. A start that failed is forgotten, so that the
 * next call tries again. Locking ends the workers.
 */
export function createVaultClient(portal: PortalForServices, workers: WorkerStarter, { surroundings, minutes = autoLockMinutes.usual }: PageParts): Omit<Vault, "PictureField"> {
  carryPortalErrors();
  const { vendorId } = portal;
  const { userId, issuer, subject } = portal.account;
  const device = { vendorId, issuer, subject };
  const listeners = new Set<() => void>();
  let state: VaultState = { status: "unknown" };
  let running: Promise<Running> | null = null;
  let signedOut = false;
  let lockedHere = false;

  const idle = createIdleLock(
    {
      account: accountName(device),
      minutes,
      lock: () => void putAway(),
      keep: (change) => {
        if (!signedOut) noteOnDevice(device, change).catch(() => undefined); // best effort: a page loaded later locks sooner
      },
    },
    surroundings,
  );
  const autoLock: AutoLock = Object.freeze({ get: idle.getMinutes, set: idle.setMinutes });

  /** Ends the workers, and leaves the lock on the device for a page loaded later. */
  async function putAway(): Promise<void> {
    lockedHere = true; // a worker that is asked for before the device has kept it starts locked too
    idle.rest();
    await end();
    if (state.status === "unlocked") setState({ status: "locked" });
    await markLocked(device, surroundings.now());
  }

  function setState(next: VaultState): void {
    state = next;
    if (next.status === "unlocked") {
      lockedHere = false;
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

  async function start(): Promise<Running> {
    const worker = await workers.vault();
    const channel = new MessageChannel();
    let engine: Promise<RunningWorker<EngineWorkerApi>> | null = null;
    let ended = false;
    let refuse: (error: PortalError) => void = () => undefined;
    const gone = new Promise<never>((_, reject) => {
      refuse = reject;
    });
    gone.catch(() => undefined); // each call hears of it; without a call there is nobody to tell

    const one: Running = {
      worker,
      gone,
      engine: async () => {
        engine ??= workers.engine().then(async (started) => {
          if (ended) started.end();
          else await started.remote.connect(Comlink.transfer(channel.port1, [channel.port1]));
          void started.failed.then(() => {
            stop("vault_unavailable"); // the channel is gone with it: both start anew
          });
          return started;
        });
        try {
          await engine;
        } catch (error) {
          engine = null;
          throw error;
        }
      },
      end: (code) => {
        if (ended) return;
        ended = true;
        refuse(new PortalError(code));
        worker.end();
        void engine?.then((started) => {
          started.end();
        }, () => undefined); // an engine that never started has nothing to end
      },
    };
    void worker.failed.then(() => {
      stop("vault_unavailable");
    });
    const tell = (next: VaultState): void => {
      if (!ended) setState(next);
    };
    await Promise.race([
      worker.remote.start({ userId, ...device, locked: lockedHere }, Comlink.proxy(servePageHttp(portal.http)), Comlink.transfer(channel.port2, [channel.port2]), Comlink.proxy(tell)),
      gone,
    ]);
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

  async function call<T>(
    options: CallOptions | undefined,
    needs: "engine" | "vault",
    run: (remote: Comlink.Remote<VaultWorkerApi>, id: CallId, onProgress: ProgressListener | null) => Promise<T>,
  ): Promise<T> {
    const { signal, onProgress } = options ?? {};
    const id = crypto.randomUUID();
    refuseCancelled(signal);
    const { worker, engine, gone } = await ensureRunning();
    const cancel = (): void => void worker.remote.cancel(id);
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      if (needs === "engine") await Promise.race([engine(), gone]);
      refuseCancelled(signal); // a call that the worker does not know yet cannot be cancelled there
      return await Promise.race([run(worker.remote, id, onProgress === undefined ? null : Comlink.proxy(onProgress)), gone]);
    } catch (error) {
      throw toPortalError(error);
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  const transfers = createTransfers({
    account: device,
    http: portal.http,
    startWorker: workers.transfer,
    acts: {
      begin: (order, options) => call(options, engineFor(order.act === "protect" ? order.request.protection : order.change.protection), (remote, id, onProgress) => remote.beginUpload(id, onProgress, order)),
      finish: (uploadId, protection, options) => call(options, engineFor(protection), (remote, id, onProgress) => remote.finishUpload(id, onProgress, uploadId, protection)),
      discard: (uploadId) => call(undefined, "vault", (remote) => remote.discardUpload(uploadId)),
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
    transfers.lock();
    const before = running;
    running = null;
    await before?.then(
      (one) => {
        one.end("vault_locked");
      },
      () => undefined, // it never started: nothing to end
    );
  }

  ensureRunning().catch(() => undefined); // the first call tries again, and says what happened
  return {
    getState: () => state,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    refresh: () => call<VaultState>(undefined, "vault", async (remote) => await remote.refresh()),
    list: async (options) => {
      const newestFirst: SecretRow[] = [];
      const take: RowsListener = (rows, progress) => {
        newestFirst.push(...rows);
        options?.onRows?.(rows, progress);
      };
      await call(options, "vault", (remote, id) => remote.list(id, Comlink.proxy(take)));
      return newestFirst.reverse();
    },
    examine: (picture, options) => call(options, "engine", (remote, id, onProgress) => remote.examine(id, onProgress, picture)),
    images: () => call(undefined, "vault", (remote) => remote.images()),
    protect: (request, options) =>
      request.content.size > maxSmallContentBytes
        ? transfers.protect(request, options)
        : call(options, engineFor(request.protection), (remote, id, onProgress) => remote.protect(id, onProgress, request)),
    update: (secretId, change, options) => {
      const { content } = change;
      return content !== undefined && content.content.size > maxSmallContentBytes
        ? transfers.update(secretId, { ...change, content }, options)
        : call(options, engineFor(change.protection), (remote, id, onProgress) => remote.update(id, onProgress, secretId, change));
    },
    history: (secretId, options) => call(options, "vault", (remote, id) => remote.history(id, secretId)),
    restoreVersion: (secretId, version, opener, options) =>
      call(options, "engine", (remote, id, onProgress) => remote.restoreVersion(id, onProgress, secretId, version, opener)),
    purge: (secretIds, options) => call(options, "vault", (remote, id) => remote.purge(id, secretIds)),
    uploads: () => call(undefined, "vault", (remote) => remote.uploads()),
    resumeUpload: (uploadId, file, options) => transfers.resume(uploadId, file, options),
    discardUpload: (uploadId) => transfers.discard(uploadId),
    unlockByPresence: async () => {
      if (signedOut) throw new PortalError("vault_unavailable");
      if (state.status === "unlocked") return;
      const record = await readDevice(device);
      if (record.accountKey === null) throw new PortalError(state.status === "empty" ? "no_keyring" : "opener_needed");
      const since = lockedSince(record, surroundings.now()); // null: another tab was unlocked since
      if (since !== null) {
        const { authTime } = await portal.signInAgain();
        if (authTime < Math.floor(since / 1000)) throw new PortalError("login_required");
        await markUnlocked(device, surroundings.now());
      }
      lockedHere = false;
      await end(); // a worker that was started locked
      await call<VaultState>(undefined, "vault", async (remote) => await remote.refresh());
    },
    autoLock,
    unlock: (opener, options) => call(options, "engine", (remote, id, onProgress) => remote.unlock(id, onProgress, opener)),
    recover: async (secretId, opener, options) => present(await call(options, "engine", (remote, id, onProgress) => remote.recover(id, onProgress, secretId, opener, options?.version))),
    exportSecrets: (secretIds, opener, options) => call(options, "engine", (remote, id, onProgress) => remote.exportSecrets(id, onProgress, secretIds, opener)),
    answerDevice: (kind) => call(undefined, "vault", (remote) => remote.answerDevice(kind)),
    setFavorite: (secretId, favorite) => call(undefined, "vault", (remote) => remote.setFavorite(secretId, favorite)),
    trash: (secretId) => call(undefined, "vault", (remote) => remote.trash(secretId)),
    restore: (secretId) => call(undefined, "vault", (remote) => remote.restore(secretId)),
    lock: async () => {
      idle.tellLocked();
      await putAway();
    },
    signOut: async () => {
      signedOut = true;
      idle.dispose();
      await end();
      await transfers.leave();
      await leaveDevice(device);
      setState({ status: "unknown" });
    },
    acceptOlderState: () => call(undefined, "vault", (remote) => remote.acceptOlderState()),
  };

  /** What stays in the worker is asked of the worker that opened it, and of no later one. */
  async function present({ openedId, ...secret }: OpenedByWorker): Promise<RecoveredSecret> {
    const { worker, gone } = await ensureRunning();
    return {
      ...secret,
      save: async (target, options) => {
        refuseCancelled(options?.signal);
        const { content } = secret;
        if (content === null) return transfers.save(openedId, keysOf(worker, gone), target, options);
        if (target === null) return new Blob([content], { type: secret.mime });
        try {
          const sink = await chosenFile(target);
          return await committed(sink, () => sink.write(content));
        } catch (error) {
          throw toPortalError(error);
        }
      },
      exportAge: async () => {
        try {
          return await Promise.race([worker.remote.exportAge(openedId), gone]);
        } catch (error) {
          throw toPortalError(error);
        }
      },
      putAway: () => {
        worker.remote.putAway(openedId).catch(() => undefined); // a worker that is gone has forgotten it already
      },
    };
  }
}

function engineFor(protection: ProtectRequest["protection"] | null | undefined): "engine" | "vault" {
  return protection?.kind === "picture" ? "engine" : "vault";
}

/** A port at which the vault's worker answers the transfer's: what opens a content never passes the page. */
function keysOf(worker: RunningWorker<VaultWorkerApi>, gone: Promise<never>): () => Promise<MessagePort> {
  return async () => {
    const { port1, port2 } = new MessageChannel();
    await Promise.race([worker.remote.serveContentKeys(Comlink.transfer(port2, [port2])), gone]);
    return port1;
  };
}
