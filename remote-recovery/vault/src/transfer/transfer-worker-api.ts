import { raceAbort } from "@relicario/engine/abortable-calls";
import { createCallClient, serveCalls } from "@relicario/engine/worker-calls";
import type { DeviceAccount } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { openDevice, type Device } from "../device/device.ts";
import { createHttpOverPage, type PageHttp } from "../rpc/page-http.ts";
import { openUploadRecords, buildUploadLockName, createSendingRecords, type UploadRecords } from "./upload-records.ts";
import { createResumableDigest, connectDigest, type ResumableDigest } from "./resumable-digest.ts";
import { saveContent, type OpenableContent } from "./save-content.ts";
import { sendContent, type SendOptions } from "./send-content.ts";
import { createPrivateSink } from "./sinks.ts";
import { browserRetryPolicy } from "./retry-until-success.ts";
import { createTransferCalls, type TransferCalls } from "./upload-calls.ts";
import { withTabLock } from "./with-tab-lock.ts";

/** Offered by the second worker: digests that run there. */
export interface DigestServer {
  readonly startDigest: (port: MessagePort) => void;
}

/** Calls from a transfer worker to the worker with the keys of opened contents. */
export interface ContentKeys {
  /** Throws `vault_locked` if the content was disposed of. */
  readonly getOpenableContent: (openedId: string) => Promise<OpenableContent>;
}

/**
 * API of transfer workers, which run in pairs: the first sends and fetches, the second computes
 * digests for it.
 */
export interface TransferWorkerApi {
  /** Resolves when the worker runs. */
  readonly ping: () => void;
  /** For the second worker: serves {@link DigestServer} at this port. */
  readonly serveDigests: (port: MessagePort) => void;
  /**
   * For the first worker, once, before any other call. The page serves {@link PageHttp} at
   * `pagePort`. Without an account, uploads cannot be sent.
   */
  readonly start: (account: DeviceAccount | null, pagePort: MessagePort, digestPort: MessagePort) => Promise<void>;
  /** Sends the rest of an upload. Throws `conflict` while another tab sends it. */
  readonly upload: (uploadId: string, file: Blob, options: SendOptions) => Promise<void>;
  /**
   * Saves an opened content to a private file. The vault's worker serves {@link ContentKeys} at
   * `keyPort`, so that no key passes through the frame.
   */
  readonly save: (keyPort: MessagePort, openedId: string, options: SendOptions) => Promise<Blob>;
}

interface WorkerState {
  readonly uploads: { readonly device: Device; readonly records: UploadRecords } | null;
  readonly calls: TransferCalls;
  readonly digestServer: Comlink.Remote<DigestServer>;
}

export function createTransferWorkerApi(): TransferWorkerApi {
  let state: WorkerState | null = null;

  function requireStarted(): WorkerState {
    if (state === null) throw new PortalError("vault_unavailable");
    return state;
  }

  /** Runs `callback` with a digest in the second worker. */
  async function withDigest<T>(callback: (digest: ResumableDigest) => Promise<T>): Promise<T> {
    const { port1, port2 } = new MessageChannel();
    try {
      await requireStarted().digestServer.startDigest(Comlink.transfer(port2, [port2]));
      return await callback(connectDigest(port1));
    } finally {
      port1.close();
    }
  }

  return {
    ping: () => undefined,
    serveDigests: (port) => {
      const server: DigestServer = {
        startDigest: (digestPort) => {
          serveCalls(createResumableDigest(), digestPort);
        },
      };
      serveCalls(server, port);
    },
    start: async (account, pagePort, digestPort) => {
      const device = account === null ? null : await openDevice(account);
      const http = createHttpOverPage(createCallClient<PageHttp>(pagePort));
      state = {
        uploads: device === null ? null : { device, records: await openUploadRecords(device.storageKey) },
        calls: createTransferCalls(http),
        digestServer: createCallClient<DigestServer>(digestPort),
      };
    },
    upload: (uploadId, file, options) =>
      withTabLock(buildUploadLockName(uploadId), () => {
        const { uploads, calls } = requireStarted();
        if (uploads === null) throw new PortalError("vault_unavailable");
        return withDigest((digest) =>
          sendContent(
            {
              records: createSendingRecords(uploads.device, uploads.records),
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
    save: async (keyPort, openedId, options) => {
      const keys = createCallClient<ContentKeys>(keyPort);
      const content = await raceAbort<OpenableContent>(options.signal, keys.getOpenableContent(openedId)).finally(
        () => {
          keyPort.close();
        },
      );
      const sink = await createPrivateSink();
      return withDigest((digest) =>
        saveContent({ ...requireStarted(), digest, retryPolicy: browserRetryPolicy, sink }, content, options),
      );
    },
  };
}
