import {
  buildAccountStorageKey,
  type CallOptions,
  type DeviceAccount,
  type HttpClient,
} from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import type { PublishedSecret } from "../operations/protect.ts";
import type { Protection, RestartedUpload, UploadPlan } from "../operations/resumable-uploads.ts";
import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import type { RunningWorker } from "../rpc/start-worker.ts";
import { openUploadRecords } from "../transfer/upload-records.ts";
import { createDownloads, type Downloads } from "./downloads.ts";
import type { TransferWorkerApi } from "../transfer/transfer-worker-api.ts";
import { createTransferWorkers } from "./transfer-workers.ts";
import type { ProtectRequest, SecretChange } from "../rpc/presented-opener.ts";

/** The vault's worker, as far as uploads need it. Each call may find it locked. */
interface UploadOperations {
  readonly begin: (plan: UploadPlan, options: CallOptions) => Promise<string>;
  readonly finish: (uploadId: string, protection: Protection | null, options: CallOptions) => Promise<PublishedSecret>;
  readonly restart: (
    uploadId: string,
    file: { readonly size: number; readonly handle: FileSystemFileHandle | null },
    options: CallOptions,
  ) => Promise<RestartedUpload>;
  readonly discard: (uploadId: string) => Promise<void>;
  /**
   * Resolves while the vault is unlocked, or once it is. `cancelled`; `vault_unavailable` after
   * sign-out.
   */
  readonly waitUntilUnlocked: (signal: AbortSignal | undefined) => Promise<void>;
}

/** The mark of an item that is imported. */
interface ImportSource {
  readonly source?: string;
}

/**
 * Uploads and downloads of this page, in workers of their own: uploads go on under the lock,
 * downloads hold plaintext and end with it.
 */
export interface Transfers extends Downloads {
  readonly protect: (request: ProtectRequest & ImportSource, options?: CallOptions) => Promise<PublishedSecret>;
  readonly update: (
    secretId: string,
    change: SecretChange & Required<Pick<SecretChange, "content">> & ImportSource,
    options?: CallOptions,
  ) => Promise<PublishedSecret>;
  /**
   * `protection` is the one that was asked for, once those that were decided do not do; null
   * before.
   */
  readonly resume: (
    uploadId: string,
    file: Blob | null,
    protection: Protection | null,
    options?: CallOptions,
  ) => Promise<PublishedSecret>;
  readonly restart: (uploadId: string, file: Blob, options?: CallOptions) => Promise<PublishedSecret>;
  readonly discard: (uploadId: string) => Promise<void>;
  /** Ends all workers. What is not published waits on the device. */
  readonly end: () => Promise<void>;
}

export interface TransferDeps {
  readonly account: DeviceAccount;
  readonly http: HttpClient;
  readonly startWorker: () => Promise<RunningWorker<TransferWorkerApi>>;
  readonly operations: UploadOperations;
}

/** The reason of an abort that keeps what was sent. */
const pauseReason = "pause";

/**
 * Puts the three together: the vault's worker decides and publishes, the transfer's worker seals
 * and sends, the page holds file and session. Aborting a call deletes what was sent, unless its
 * reason is `pause`: then it waits.
 */
export function createTransfers({ account, http, startWorker, operations }: TransferDeps): Transfers {
  const workers = createTransferWorkers({ account, http, startWorker, phase: "sending" });
  const downloads = createDownloads(createTransferWorkers({ account: null, http, startWorker, phase: "opening" }));
  const activeUploads = new Map<string, AbortController>();

  /** Sends, and publishes what is sent. */
  async function sendAndPublish(
    uploadId: string,
    file: Blob,
    protection: Protection | null,
    options: CallOptions,
  ): Promise<PublishedSecret> {
    const controller = new AbortController();
    activeUploads.set(uploadId, controller);
    try {
      await workers.call(controller, options, (remote, callOptions) => remote.upload(uploadId, file, callOptions));
      throwIfCancelled(options.signal);
      return await finishWhenUnlocked(uploadId, protection, options);
    } catch (error) {
      if (options.signal?.aborted === true && options.signal.reason !== pauseReason) await operations.discard(uploadId);
      throw error;
    } finally {
      activeUploads.delete(uploadId);
    }
  }

  /** Publishing waits for unlocking: the device may have been locked while parts were sent. */
  async function finishWhenUnlocked(
    uploadId: string,
    protection: Protection | null,
    options: CallOptions,
  ): Promise<PublishedSecret> {
    for (;;) {
      try {
        return await operations.finish(uploadId, protection, options);
      } catch (error) {
        if (!isPortalError(error, "vault_locked")) throw error;
        await operations.waitUntilUnlocked(options.signal);
      }
    }
  }

  return {
    protect: async ({ content, ...request }, options = {}) => {
      const uploadId = await operations.begin(
        { operation: "protect", request, size: content.size, handle: getFileHandle(content) },
        options,
      );
      return sendAndPublish(uploadId, content, request.protection, options);
    },
    update: async (secretId, { content: { content, ...contentMetadata }, ...change }, options = {}) => {
      const plan: UploadPlan = {
        operation: "update",
        secretId,
        change: { ...change, content: contentMetadata },
        size: content.size,
        handle: getFileHandle(content),
      };
      return sendAndPublish(await operations.begin(plan, options), content, change.protection ?? null, options);
    },
    resume: async (uploadId, chosenFile, protection, options = {}) => {
      const file = chosenFile ?? (await requireStoredFile(account, uploadId));
      if (file === "sealed") return operations.finish(uploadId, protection, options);
      return sendAndPublish(uploadId, file, protection, options);
    },
    restart: async (uploadId, file, options = {}) => {
      activeUploads.get(uploadId)?.abort(pauseReason);
      const { uploadId: restartedId, ...published } = await operations.restart(
        uploadId,
        { size: file.size, handle: getFileHandle(file) },
        options,
      );
      return restartedId === null ? published : sendAndPublish(restartedId, file, null, options);
    },
    discard: async (uploadId) => {
      activeUploads.get(uploadId)?.abort(pauseReason);
      await operations.discard(uploadId);
    },
    save: downloads.save,
    lock: downloads.lock,
    end: async () => {
      await Promise.all([workers.end(), downloads.lock()]);
    },
  };
}

/**
 * A File that came from a picker or a drop of the File System Access API carries its handle (as
 * `file-selector` sets it).
 */
function getFileHandle(content: Blob): FileSystemFileHandle | null {
  return "handle" in content && isFileHandle(content.handle) ? content.handle : null;
}

function isFileHandle(value: unknown): value is FileSystemFileHandle {
  return typeof value === "object" && value !== null && "getFile" in value;
}

/**
 * The file behind the handle that was kept. @throws PortalError `validation_error` when it has to
 * be chosen again.
 */
async function requireStoredFile(account: DeviceAccount, uploadId: string): Promise<File | "sealed"> {
  const records = await openUploadRecords(buildAccountStorageKey(account));
  try {
    const record = await records.get(uploadId);
    if (record === null) throw new PortalError("not_found");
    if (record.sealed) return "sealed";
    const { handle } = record;
    if (handle !== null && (await requestReadPermission(handle))) return await handle.getFile();
    throw new PortalError("validation_error", { details: { fields: ["content"] } });
  } finally {
    records.close();
  }
}

/** Asks the person where the browser wants that; only from a click. */
async function requestReadPermission(handle: FileSystemFileHandle): Promise<boolean> {
  const descriptor = { mode: "read" } as const;
  if ((await handle.queryPermission(descriptor)) === "granted") return true;
  return (await handle.requestPermission(descriptor)) === "granted";
}

/** Newer than TypeScript's types. */
declare global {
  interface FileSystemFileHandle {
    queryPermission(descriptor: { readonly mode: "read" }): Promise<PermissionState>;
    requestPermission(descriptor: { readonly mode: "read" }): Promise<PermissionState>;
  }
}
