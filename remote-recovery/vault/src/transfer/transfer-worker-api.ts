import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { openDevice, type Device, type DeviceAccount } from "../device/device.ts";
import { httpOverPage, type PageHttp } from "../worker/port-http.ts";
import { openUploadRecords, uploadLock, type UploadRecords } from "./records.ts";
import { createRunningDigest, digestOver, type RunningDigest } from "./running-digest.ts";
import { saveContent, type OpenableContent } from "./save-content.ts";
import { sendUpload } from "./send-upload.ts";
import { chosenFile, privateFile } from "./sinks.ts";
import { browserPatience } from "./until-through.ts";
import { transferCallsOn, type TransferCalls } from "./upload-calls.ts";

type BytesListener = ((done: number, total: number) => unknown) & { readonly [Comlink.releaseProxy]?: () => void };

/** Gives digests that run in a worker of their own. */
export interface DigestMaker {
  readonly digest: (port: MessagePort) => void;
}

/** The vault's worker, as far as the transfer's may ask it: what opens one content, after an opener was shown for it. */
export interface ContentKeys {
  /** `vault_locked` when it was put away. */
  readonly contentKey: (openedId: string) => Promise<OpenableContent>;
}

/** What a transfer's worker offers over Comlink. Two are started: one sends and fetches, the other computes its digests. */
export interface TransferWorkerApi {
  /** In the second one: digests are asked for at this port. */
  readonly serveDigests: (port: MessagePort) => void;
  /** In the first one, once, before any other call. */
  readonly start: (account: DeviceAccount, http: PageHttp, helper: MessagePort) => Promise<void>;
  /** Sends what is left of an upload. Only one tab does so at a time: `conflict` in another one. */
  readonly upload: (id: string, onProgress: BytesListener, uploadId: string, file: Blob) => Promise<void>;
  /** The vault's worker answers at `keys`: what opens the content never passes the page. */
  readonly save: (id: string, onProgress: BytesListener, keys: MessagePort, openedId: string, target: FileSystemFileHandle | null) => Promise<Blob | null>;
  /** Ends a call with `cancelled`. Without effect when it is over. */
  readonly cancel: (id: string) => void;
}

interface Started {
  readonly device: Device;
  readonly records: UploadRecords;
  readonly calls: TransferCalls;
  readonly helper: Comlink.Remote<DigestMaker>;
}

export function createTransferWorkerApi(): TransferWorkerApi {
  let started: Started | null = null;
  const running = new Map<string, AbortController>();

  function requireStarted(): Started {
    if (started === null) throw new PortalError("vault_unavailable");
    return started;
  }

  /** A digest in the other worker for one transfer. */
  async function withDigest<T>(work: (digest: RunningDigest) => Promise<T>): Promise<T> {
    const { port1, port2 } = new MessageChannel();
    try {
      await requireStarted().helper.digest(Comlink.transfer(port2, [port2]));
      return await work(digestOver(port1));
    } finally {
      port1.close();
    }
  }

  async function cancellable<T>(id: string, onProgress: BytesListener, work: (options: { signal: AbortSignal; onProgress: (done: number, total: number) => void }) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    running.set(id, controller);
    try {
      return await work({ signal: controller.signal, onProgress: (done, total) => void onProgress(done, total) });
    } finally {
      running.delete(id);
      onProgress[Comlink.releaseProxy]?.();
    }
  }

  return {
    serveDigests: (port) => {
      const maker: DigestMaker = {
        digest: (own) => {
          Comlink.expose(createRunningDigest(), own);
        },
      };
      Comlink.expose(maker, port);
    },
    start: async (account, http, helper) => {
      const device = await openDevice(account);
      started = { device, records: await openUploadRecords(device.name), calls: transferCallsOn(httpOverPage(http)), helper: Comlink.wrap<DigestMaker>(helper) };
    },
    upload: (id, onProgress, uploadId, file) =>
      cancellable(id, onProgress, (options) =>
        alone(uploadId, () => withDigest((digest) => sendUpload({ ...requireStarted(), digest, patience: browserPatience, now: Date.now }, uploadId, file, options))),
      ),
    save: (id, onProgress, keys, openedId, target) =>
      cancellable(id, onProgress, async (options) => {
        const content = await Comlink.wrap<ContentKeys>(keys)
          .contentKey(openedId)
          .finally(() => {
            keys.close();
          });
        const sink = await (target === null ? privateFile() : chosenFile(target));
        return withDigest((digest) => saveContent({ ...requireStarted(), digest, patience: browserPatience, sink }, content, options));
      }),
    cancel: (id) => {
      running.get(id)?.abort();
    },
  };
}

/** One upload is sent by one tab. */
async function alone<T>(uploadId: string, work: () => Promise<T>): Promise<T> {
  if (!("locks" in navigator)) return work();
  return navigator.locks.request(uploadLock(uploadId), { ifAvailable: true }, (lock) => {
    if (lock === null) throw new PortalError("conflict");
    return work();
  });
}
