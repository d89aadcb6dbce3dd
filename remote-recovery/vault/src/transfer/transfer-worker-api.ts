import { callsTo } from "@relicario/engine/worker-calls";
import type { DeviceAccount } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { openDevice, type Device } from "../device/device.ts";
import { httpOverPage, type PageHttp } from "../worker/port-http.ts";
import { openUploadRecords, uploadLock, uploadsOf, type UploadRecords } from "./records.ts";
import { createRunningDigest, digestOver, type RunningDigest } from "./running-digest.ts";
import { saveContent, type OpenableContent } from "./save-content.ts";
import { sendContent, type SendOptions } from "./send-content.ts";
import { chosenFile, privateFile } from "./sinks.ts";
import { browserPatience } from "./until-through.ts";
import { transferCallsOn, type TransferCalls } from "./upload-calls.ts";

/** Gives digests that run in a worker of their own. */
export interface DigestMaker {
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
   * In the first one, once, before any other call. The page answers {@link PageHttp} at `page`.
   * Without an account it sends no uploads.
   */
  readonly start: (account: DeviceAccount | null, page: MessagePort, helper: MessagePort) => Promise<void>;
  /** Sends what is left of an upload. Only one tab does so at a time: `conflict` in another one. */
  readonly upload: (uploadId: string, file: Blob, options: SendOptions) => Promise<void>;
  /** The vault's worker answers at `keys`: what opens the content never passes the page. */
  readonly save: (
    keys: MessagePort,
    openedId: string,
    target: FileSystemFileHandle | null,
    options: SendOptions,
  ) => Promise<Blob | null>;
}

interface Started {
  readonly sending: { readonly device: Device; readonly records: UploadRecords } | null;
  readonly calls: TransferCalls;
  readonly helper: Comlink.Remote<DigestMaker>;
}

export function createTransferWorkerApi(): TransferWorkerApi {
  let started: Started | null = null;

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

  return {
    ping: () => undefined,
    serveDigests: (port) => {
      const maker: DigestMaker = {
        digest: (own) => {
          Comlink.expose(createRunningDigest(), own);
        },
      };
      Comlink.expose(maker, port);
    },
    start: async (account, page, helper) => {
      const device = account === null ? null : await openDevice(account);
      const http = httpOverPage(callsTo<PageHttp>(page));
      started = {
        sending: device === null ? null : { device, records: await openUploadRecords(device.name) },
        calls: transferCallsOn(http),
        helper: Comlink.wrap<DigestMaker>(helper),
      };
    },
    upload: (uploadId, file, options) =>
      alone(uploadId, () => {
        const { sending, calls } = requireStarted();
        if (sending === null) throw new PortalError("vault_unavailable");
        return withDigest((digest) =>
          sendContent(
            {
              records: uploadsOf(sending.device, sending.records),
              calls,
              digest,
              patience: browserPatience,
              now: Date.now,
            },
            uploadId,
            file,
            options,
          ),
        );
      }),
    save: async (keys, openedId, target, options) => {
      const content = await callsTo<ContentKeys>(keys)
        .contentKey(openedId)
        .finally(() => {
          keys.close();
        });
      const sink = await (target === null ? privateFile() : chosenFile(target));
      return withDigest((digest) =>
        saveContent({ ...requireStarted(), digest, patience: browserPatience, sink }, content, options),
      );
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
