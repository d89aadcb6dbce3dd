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
import type { TransferWorkerApi } from "../transfer/transfer-worker-api.ts";
import { createTransferWorkers } from "./transfer-workers.ts";
import type { ProtectRequest, SecretChange } from "../rpc/presented-opener.ts";

/** Operations of the vault's worker that uploads call. Each may reject with `vault_locked`. */
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
   * Resolves when the vault is unlocked. Rejects with `cancelled`, or with `vault_unavailable`
   * after sign-out.
   */
  readonly waitUntilUnlocked: (signal: AbortSignal | undefined) => Promise<void>;
}

/** Mark of an imported item, see `Label`. */
interface ImportSource {
  readonly source?: string;
}

/** Uploads of this page. They continue while locked. */
export interface Uploads {
  readonly protect: (request: ProtectRequest & ImportSource, options?: CallOptions) => Promise<PublishedSecret>;
  readonly update: (
    secretId: string,
    change: SecretChange & Required<Pick<SecretChange, "content">> & ImportSource,
    options?: CallOptions,
  ) => Promise<PublishedSecret>;
  /**
   * @param protection used if the planned protection no longer suffices; null to use only the
   *   planned one
   */
  readonly resume: (
    uploadId: string,
    file: Blob | null,
    protection: Protection | null,
    options?: CallOptions,
  ) => Promise<PublishedSecret>;
  readonly restart: (uploadId: string, file: Blob, options?: CallOptions) => Promise<PublishedSecret>;
  readonly discard: (uploadId: string) => Promise<void>;
  /** Ends all workers. Unpublished uploads stay on the device. */
  readonly end: () => Promise<void>;
}

export interface UploadsDeps {
  readonly account: DeviceAccount;
  readonly http: HttpClient;
  readonly startWorker: () => Promise<RunningWorker<TransferWorkerApi>>;
  readonly operations: UploadOperations;
}

/** Abort reason that keeps the parts already sent. */
const pauseReason = "pause";

/**
 * Coordinates uploads: the vault's worker plans and publishes, the transfer worker seals and sends,
 * the page has file and session. Aborting a call discards the upload, unless the reason is `pause`.
 */
export function createUploads({ account, http, startWorker, operations }: UploadsDeps): Uploads {
  const workers = createTransferWorkers({ account, http, startWorker, phase: "sending" });
  const activeUploads = new Map<string, AbortController>();

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

  /**
   * Waits for unlocking if needed, because the device may have been locked while parts were sent.
   */
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
      const { uploadId: restartedId, ...publishedSecret } = await operations.restart(
        uploadId,
        { size: file.size, handle: getFileHandle(file) },
        options,
      );
      return restartedId === null ? publishedSecret : sendAndPublish(restartedId, file, null, options);
    },
    discard: async (uploadId) => {
      activeUploads.get(uploadId)?.abort(pauseReason);
      await operations.discard(uploadId);
    },
    end: workers.end,
  };
}

/** `file-selector` sets `handle` on files of the File System Access API. */
function getFileHandle(content: Blob): FileSystemFileHandle | null {
  return "handle" in content && isFileHandle(content.handle) ? content.handle : null;
}

function isFileHandle(value: unknown): value is FileSystemFileHandle {
  return typeof value === "object" && value !== null && "getFile" in value;
}

/**
 * Reads the file of a saved handle. Returns "sealed" if the file is no longer needed.
 * @throws PortalError `validation_error` if the file must be chosen again
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

/** May ask the person, so it must be called from a click. */
async function requestReadPermission(handle: FileSystemFileHandle): Promise<boolean> {
  const descriptor = { mode: "read" } as const;
  if ((await handle.queryPermission(descriptor)) === "granted") return true;
  return (await handle.requestPermission(descriptor)) === "granted";
}

/** Not yet in TypeScript's types. */
declare global {
  interface FileSystemFileHandle {
    queryPermission(descriptor: { readonly mode: "read" }): Promise<PermissionState>;
    requestPermission(descriptor: { readonly mode: "read" }): Promise<PermissionState>;
  }
}
