import { serveCalls } from "@relicario/engine/worker-calls";
import { accountName, type CallOptions, type DeviceAccount, type Http } from "@relicario/shared/contract";
import { isPortalError, PortalError, toPortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import type { Published } from "../acts/protect.ts";
import type { Protection, Restarted, UploadOrder } from "../acts/resumable-uploads.ts";
import { refuseCancelled } from "../vault-context.ts";
import { pageHttp } from "../worker/port-http.ts";
import type { RunningWorker } from "../worker/start-workers.ts";
import { openUploadRecords } from "./records.ts";
import type { SendOptions } from "./send-content.ts";
import type { TransferWorkerApi } from "./transfer-worker-api.ts";
import type { ProtectRequest, SecretChange } from "../shown-image.ts";

/** The vault's worker, as far as uploads need it. Each call may find it locked. */
export interface UploadActs {
  readonly begin: (order: UploadOrder, options: CallOptions) => Promise<string>;
  readonly finish: (uploadId: string, protection: Protection | null, options: CallOptions) => Promise<Published>;
  readonly restart: (uploadId: string, file: { readonly size: number; readonly handle: FileSystemFileHandle | null }, options: CallOptions) => Promise<Restarted>;
  readonly discard: (uploadId: string) => Promise<void>;
  /** Resolves while the vault is unlocked, or once it is. `cancelled`; `vault_unavailable` after sign-out. */
  readonly unlocked: (signal: AbortSignal | undefined) => Promise<void>;
}

/** Uploads and downloads of this page, in workers of their own: uploads go on under the lock, downloads hold plaintext and end with it. */
export interface Transfers {
  readonly protect: (request: ProtectRequest, options?: CallOptions) => Promise<Published>;
  readonly update: (secretId: string, change: SecretChange & Required<Pick<SecretChange, "content">>, options?: CallOptions) => Promise<Published>;
  /** `protection` is the one that was asked for, once those that were decided do not do; null before. */
  readonly resume: (uploadId: string, file: Blob | null, protection: Protection | null, options?: CallOptions) => Promise<Published>;
  readonly restart: (uploadId: string, file: Blob, options?: CallOptions) => Promise<Published>;
  readonly discard: (uploadId: string) => Promise<void>;
  readonly save: (openedId: string, keys: () => Promise<MessagePort>, target: FileSystemFileHandle | null, options?: CallOptions) => Promise<Blob | null>;
  /** Ends the workers of downloads: plaintext is put away. What they wrote is the host's to sweep. */
  readonly lock: () => Promise<void>;
  /** Ends all workers. What is not published waits on the device. */
  readonly end: () => Promise<void>;
}

interface Running {
  readonly remote: Comlink.Remote<TransferWorkerApi>;
  /** Rejects when a worker fails or is ended. */
  readonly gone: Promise<never>;
  readonly end: () => void;
}

export interface TransferParts {
  readonly account: DeviceAccount;
  readonly http: Http;
  readonly startWorker: () => Promise<RunningWorker<TransferWorkerApi>>;
  readonly acts: UploadActs;
}

type Phase = "sending" | "opening";

/** The reason of an abort that keeps what was sent. */
const pauseReason = "pause";

/**
 * Puts the three together: the vault's worker decides and publishes, the transfer's worker seals and sends, the page holds
 * file and session. Aborting a call deletes what was sent, unless its reason is `pause`: then it waits.
 */
export function createTransfers({ account, http, startWorker, acts }: TransferParts): Transfers {
  const running: Record<Phase, Promise<Running> | null> = { sending: null, opening: null };
  const downloads = new Set<AbortController>();
  const sending = new Map<string, AbortController>();

  function ensureRunning(phase: Phase): Promise<Running> {
    const before = running[phase];
    if (before !== null) return before;
    const starting: Promise<Running> = start(() => {
      if (running[phase] === starting) running[phase] = null;
    }).catch((error: unknown) => {
      if (running[phase] === starting) running[phase] = null;
      throw toPortalError(error);
    });
    running[phase] = starting;
    return starting;
  }

  async function endWorkers(phase: Phase): Promise<void> {
    const before = running[phase];
    running[phase] = null;
    (await before?.catch(() => null))?.end();
  }

  async function start(onEnd: () => void): Promise<Running> {
    const [main, helper] = await Promise.all([startWorker(), startWorker()]);
    const [page, digests] = [new MessageChannel(), new MessageChannel()];
    let refuse: (error: PortalError) => void = () => undefined;
    const gone = new Promise<never>((_, reject) => {
      refuse = reject;
    });
    gone.catch(() => undefined); // each call hears of it
    const end = (): void => {
      onEnd();
      refuse(new PortalError("vault_unavailable"));
      main.end();
      helper.end();
      page.port1.close();
    };
    for (const { failed } of [main, helper]) void failed.then(end);
    serveCalls(pageHttp(http), page.port1);
    await Promise.race([
      Promise.all([
        helper.remote.serveDigests(Comlink.transfer(digests.port2, [digests.port2])),
        main.remote.start(account, Comlink.transfer(page.port2, [page.port2]), Comlink.transfer(digests.port1, [digests.port1])),
      ]),
      gone,
    ]);
    return { remote: main.remote, gone, end };
  }

  /** A call to the worker that `controller` ends. */
  async function call<T>(controller: AbortController, phase: Phase, { signal, onProgress }: CallOptions, run: (remote: Comlink.Remote<TransferWorkerApi>, options: SendOptions) => Promise<T>): Promise<T> {
    const follow = (): void => {
      controller.abort(signal?.reason);
    };
    refuseCancelled(signal);
    signal?.addEventListener("abort", follow, { once: true });
    try {
      const { remote, gone } = await ensureRunning(phase);
      refuseCancelled(controller.signal);
      return await Promise.race([run(remote, { signal: controller.signal, onProgress: (done, total) => onProgress?.({ phase, done, total }) }), gone]);
    } catch (error) {
      throw toPortalError(error);
    } finally {
      signal?.removeEventListener("abort", follow);
    }
  }

  /** Sends, and publishes what is sent. */
  async function run(uploadId: string, file: Blob, protection: Protection | null, options: CallOptions): Promise<Published> {
    const controller = new AbortController();
    sending.set(uploadId, controller);
    try {
      await call(controller, "sending", options, (remote, ofCall) => remote.upload(uploadId, file, ofCall));
      refuseCancelled(options.signal);
      return await finishUnlocked(uploadId, protection, options);
    } catch (error) {
      if (options.signal?.aborted === true && options.signal.reason !== pauseReason) await acts.discard(uploadId);
      throw error;
    } finally {
      sending.delete(uploadId);
    }
  }

  /** Publishing waits for unlocking: the device may have been locked while parts were sent. */
  async function finishUnlocked(uploadId: string, protection: Protection | null, options: CallOptions): Promise<Published> {
    for (;;) {
      try {
        return await acts.finish(uploadId, protection, options);
      } catch (error) {
        if (!isPortalError(error, "vault_locked")) throw error;
        await acts.unlocked(options.signal);
      }
    }
  }

  return {
    protect: async ({ content, ...request }, options = {}) => {
      const uploadId = await acts.begin({ act: "protect", request, size: content.size, handle: handleOf(content) }, options);
      return run(uploadId, content, request.protection, options);
    },
    update: async (secretId, { content: { content, ...described }, ...change }, options = {}) => {
      const order: UploadOrder = { act: "update", secretId, change: { ...change, content: described }, size: content.size, handle: handleOf(content) };
      return run(await acts.begin(order, options), content, change.protection ?? null, options);
    },
    resume: async (uploadId, chosen, protection, options = {}) => {
      const file = chosen ?? (await fileKept(account, uploadId));
      if (file === "sealed") return acts.finish(uploadId, protection, options);
      return run(uploadId, file, protection, options);
    },
    restart: async (uploadId, file, options = {}) => {
      sending.get(uploadId)?.abort(pauseReason);
      const { uploadId: begun, ...published } = await acts.restart(uploadId, { size: file.size, handle: handleOf(file) }, options);
      return begun === null ? published : run(begun, file, null, options);
    },
    discard: async (uploadId) => {
      sending.get(uploadId)?.abort(pauseReason);
      await acts.discard(uploadId);
    },
    save: async (openedId, keys, target, options = {}) => {
      const controller = new AbortController();
      downloads.add(controller);
      try {
        return await call(controller, "opening", options, async (remote, ofCall) => {
          const port = await keys();
          return remote.save(Comlink.transfer(port, [port]), openedId, target, ofCall);
        });
      } catch (error) {
        throw controller.signal.reason === "lock" ? new PortalError("vault_locked", { cause: error }) : error;
      } finally {
        downloads.delete(controller);
      }
    },
    lock: async () => {
      for (const controller of downloads) controller.abort("lock");
      await endWorkers("opening");
    },
    end: async () => {
      await Promise.all([endWorkers("sending"), endWorkers("opening")]);
    },
  };
}

/** A File that came from a picker or a drop of the File System Access API carries its handle (as `file-selector` sets it). */
function handleOf(content: Blob): FileSystemFileHandle | null {
  return "handle" in content && isHandle(content.handle) ? content.handle : null;
}

function isHandle(value: unknown): value is FileSystemFileHandle {
  return typeof value === "object" && value !== null && "getFile" in value;
}

/** The file behind the handle that was kept. @throws PortalError `validation_error` when it has to be chosen again. */
async function fileKept(account: DeviceAccount, uploadId: string): Promise<File | "sealed"> {
  const records = await openUploadRecords(accountName(account));
  try {
    const record = await records.get(uploadId);
    if (record === null) throw new PortalError("not_found");
    if (record.sealed) return "sealed";
    const { handle } = record;
    if (handle !== null && (await mayRead(handle))) return await handle.getFile();
    throw new PortalError("validation_error", { details: { fields: ["content"] } });
  } finally {
    records.close();
  }
}

/** Asks the person where the browser wants that; only from a click. */
async function mayRead(handle: FileSystemFileHandle): Promise<boolean> {
  const wanted = { mode: "read" } as const;
  if ((await handle.queryPermission(wanted)) === "granted") return true;
  return (await handle.requestPermission(wanted)) === "granted";
}

/** Newer than TypeScript's types. */
declare global {
  interface FileSystemFileHandle {
    queryPermission(wanted: { readonly mode: "read" }): Promise<PermissionState>;
    requestPermission(wanted: { readonly mode: "read" }): Promise<PermissionState>;
  }
}
