import { createCallClient } from "@relicario/engine/worker-calls";
import type { DeviceAccount } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { openDevice, type Device } from "../device/device.ts";
import { createHttpOverPage, type PageHttp } from "../rpc/page-http.ts";
import { openUploadRecords, uploadLockName, createSendingRecords, type UploadRecords } from "./upload-records.ts";
import { createResumableDigest, connectDigest, type ResumableDigest } from "./resumable-digest.ts";
import { saveContent, type OpenableContent } from "./save-content.ts";
import { sendContent, type SendOptions } from "./send-content.ts";
import { createFileSink, createPrivateSink } from "./sinks.ts";
import { browserRetryPolicy } from "./retry-until-success.ts";
import { createTransferCalls, type TransferCalls } from "./upload-calls.ts";

/** Gives digests that run in a worker of their own. */
export interface DigestServer {
  readonly digest: (port: MessagePort) => void;
}

/**
 * The vault's worker, as far as the transfer's may ask it: what opens one content, after an opener
 * was shown for it.
 */
export interface ContentKeys {
  /** `vault_locked` when it was put away. */
  readonly contentKey: (openedId: string) => Promise<OpenableContent>;
}

/**
 * What a transfer's worker offers. Two are started: one sends and fetches, the other computes its
 * digests.
 */
export interface TransferWorkerApi {
  /** Answers when the worker runs. */
  readonly ping: () => void;
  /** In the second one: digests are asked for at this port. */
  readonly serveDigests: (port: MessagePort) => void;
  /**
   * In the first one, once, before any other call. The page answers {@link PageHttp} at `pagePort`.
   * Without an account it sends no uploads.
   */
  readonly start: (account: DeviceAccount | null, pagePort: MessagePort, digestPort: MessagePort) => Promise<void>;
  /** Sends what is left of an upload. Only one tab does so at a time: `conflict` in another one. */
  readonly upload: (uploadId: string, file: Blob, options: SendOptions) => Promise<void>;
  /** The vault's worker answers at `keyPort`: what opens the content never passes the page. */
  readonly save: (
    keyPort: MessagePort,
    openedId: string,
    target: FileSystemFileHandle | null,
    options: SendOptions,
  ) => Promise<Blob | null>;
}

interface WorkerState {
  readonly sending: { readonly device: Device; readonly records: UploadRecords } | null;
  readonly calls: TransferCalls;
  readonly digestServer: Comlink.Remote<DigestServer>;
}

export function createTransferWorkerApi(): TransferWorkerApi {
  let state: WorkerState | null = null;

  function requireStarted(): WorkerState {
    if (state === null) throw new PortalError("vault_unavailable");
    return state;
  }

  /** A digest in the other worker for one transfer. */
  async function withDigest<T>(callback: (digest: ResumableDigest) => Promise<T>): Promise<T> {
    const { port1, port2 } = new MessageChannel();
    try {
      await requireStarted().digestServer.digest(Comlink.transfer(port2, [port2]));
      return await callback(connectDigest(port1));
    } finally {
      port1.close();
    }
  }

  return {
    ping: () => undefined,
    serveDigests: (port) => {
      const server: DigestServer = {
        digest: (digestPort) => {
          Comlink.expose(createResumableDigest(), digestPort);
        },
      };
      Comlink.expose(server, port);
    },
    start: async (account, pagePort, digestPort) => {
      const device = account === null ? null : await openDevice(account);
      const http = createHttpOverPage(createCallClient<PageHttp>(pagePort));
      state = {
        sending: device === null ? null : { device, records: await openUploadRecords(device.name) },
        calls: createTransferCalls(http),
        digestServer: Comlink.wrap<DigestServer>(digestPort),
      };
    },
    upload: (uploadId, file, options) =>
      withUploadLock(uploadId, () => {
        const { sending, calls } = requireStarted();
        if (sending === null) throw new PortalError("vault_unavailable");
        return withDigest((digest) =>
          sendContent(
            {
              records: createSendingRecords(sending.device, sending.records),
              calls,
              digest,
              retryPolicy: browserRetryPolicy,
              now: Date.now,
            },
            uploadId,
            file,
            options,
          ),
        );
      }),
    save: async (keyPort, openedId, target, options) => {
      const content = await createCallClient<ContentKeys>(keyPort)
        .contentKey(openedId)
        .finally(() => {
          keyPort.close();
        });
      const sink = await (target === null ? createPrivateSink() : createFileSink(target));
      return withDigest((digest) =>
        saveContent({ ...requireStarted(), digest, retryPolicy: browserRetryPolicy, sink }, content, options),
      );
    },
  };
}

/** One upload is sent by one tab. */
async function withUploadLock<T>(uploadId: string, callback: () => Promise<T>): Promise<T> {
  if (!("locks" in navigator)) return callback();
  return navigator.locks.request(uploadLockName(uploadId), { ifAvailable: true }, (lock) => {
    if (lock === null) throw new PortalError("conflict");
    return callback();
  });
}
