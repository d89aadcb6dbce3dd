import { autoLockMinutes, type CallOptions, type PortalForServices, type RecoveredSecret, type RowsListener, type SecretRow, type Vault, type VaultState } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { carryPortalErrors } from "../../engine/comlink-errors.ts";
import type { EngineService } from "../../engine/engine-service.ts";
import { leaveDevice, markLocked } from "../device/device.ts";
import { refuseCancelled } from "../session.ts";
import { servePageHttp } from "./port-http.ts";
import type { RunningWorker, WorkerStarter } from "./start-workers.ts";
import type { CallId, OpenedByWorker, ProgressListener, VaultService } from "./vault-service.ts";

/** The vault's worker with its half of the channel to the engine. */
interface Running {
  readonly worker: RunningWorker<VaultService>;
  /** The engine's end of the channel, until the engine is there to take it. */
  readonly engine: () => Promise<void>;
  /** Rejects when the worker is ended or fails: a call to a worker that is gone would never settle. */
  readonly gone: Promise<never>;
  readonly end: (code: "vault_locked" | "vault_unavailable") => void;
}

/**
 * The contract's vault over its workers, on the page. Workers start at first need; the engine only for calls that look at
 * a picture. A start that failed is forgotten, so that the next call tries again. Locking ends the workers.
 */
export function createVaultClient(portal: PortalForServices, workers: WorkerStarter): Omit<Vault, "PictureField"> {
  carryPortalErrors();
  const { vendorId } = portal;
  const { userId, issuer, subject } = portal.account;
  const device = { vendorId, issuer, subject };
  const listeners = new Set<() => void>();
  let state: VaultState = { status: "unknown" };
  let running: Promise<Running> | null = null;
  let signedOut = false;

  function setState(next: VaultState): void {
    state = next;
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
    let engine: Promise<RunningWorker<EngineService>> | null = null;
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
      worker.remote.start({ userId, ...device }, Comlink.proxy(servePageHttp(portal.http)), Comlink.transfer(channel.port2, [channel.port2]), Comlink.proxy(tell)),
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
    run: (remote: Comlink.Remote<VaultService>, id: CallId, onProgress: ProgressListener | null) => Promise<T>,
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

  async function end(): Promise<void> {
    const before = running;
    running = null;
    await before?.then(
      (one) => {
        one.end("vault_locked");
      },
      () => undefined, // it never started: nothing to end
    );
  }

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
      call(options, request.protection.kind === "picture" ? "engine" : "vault", (remote, id, onProgress) => remote.protect(id, onProgress, request)),
    update: (secretId, change, options) =>
      call(options, change.protection?.kind === "picture" ? "engine" : "vault", (remote, id, onProgress) => remote.update(id, onProgress, secretId, change)),
    history: (secretId, options) => call(options, "vault", (remote, id) => remote.history(id, secretId)),
    restoreVersion: (secretId, version, opener, options) =>
      call(options, "engine", (remote, id, onProgress) => remote.restoreVersion(id, onProgress, secretId, version, opener)),
    purge: (secretIds, options) => call(options, "vault", (remote, id) => remote.purge(id, secretIds)),
    uploads: () => Promise.resolve([]), // nothing is sent in parts yet
    resumeUpload: () => Promise.reject(new PortalError("not_found")),
    discardUpload: () => Promise.resolve(),
    unlockByPresence: notYet,
    autoLock: Object.freeze({
      get: () => autoLockMinutes.usual,
      set: () => {
        throw new PortalError("vault_unavailable");
      },
    }),
    unlock: (opener, options) => call(options, "engine", (remote, id, onProgress) => remote.unlock(id, onProgress, opener)),
    recover: async (secretId, opener, options) => present(await call(options, "engine", (remote, id, onProgress) => remote.recover(id, onProgress, secretId, opener, options?.version))),
    answerDevice: (kind) => call(undefined, "vault", (remote) => remote.answerDevice(kind)),
    setFavorite: (secretId, favorite) => call(undefined, "vault", (remote) => remote.setFavorite(secretId, favorite)),
    trash: (secretId) => call(undefined, "vault", (remote) => remote.trash(secretId)),
    restore: (secretId) => call(undefined, "vault", (remote) => remote.restore(secretId)),
    lock: async () => {
      await end();
      await markLocked(device);
      if (state.status === "unlocked") setState({ status: "locked" });
    },
    signOut: async () => {
      signedOut = true;
      await end();
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
        if (content === null) throw new PortalError("payload_too_large");
        if (target === null) return new Blob([content], { type: secret.mime });
        const file = await target.createWritable();
        await file.write(content);
        await file.close();
        return null;
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

/** The contract is ahead of the flows: these come with the next changes. */
function notYet(): Promise<never> {
  return Promise.reject(new PortalError("vault_unavailable"));
}
