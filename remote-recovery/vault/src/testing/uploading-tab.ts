import { randomBytes, type Bytes } from "../seal/bytes.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { openUploadRecords, createSendingRecords } from "../transfer/upload-records.ts";
import { createResumableDigest, type ResumableDigest } from "../transfer/resumable-digest.ts";
import { sendContent } from "../transfer/send-content.ts";
import type { RetryPolicy } from "../transfer/retry-until-success.ts";
import { createTransferCalls } from "../transfer/upload-calls.ts";
import { protect } from "../operations/protect.ts";
import type { UploadPlan, UploadDeps } from "../operations/resumable-uploads.ts";
import { setDeviceKind } from "../operations/set-device-kind.ts";
import type { ProtectRequest } from "../rpc/presented-opener.ts";
import { makePicture, textSecret, type World } from "./world.ts";

/** A tab's uploads: the vault's part, and the transfer's without its worker. */
export interface UploadingTab extends UploadDeps {
  readonly vault: VaultSession;
  /** Number of waits before retries. */
  readonly waitCount: () => number;
  readonly send: (
    uploadId: string,
    file: Blob,
    options?: Partial<{
      signal: AbortSignal;
      onProgress: (done: number, total: number) => void;
      digest: ResumableDigest;
      records: UploadDeps["records"];
    }>,
  ) => Promise<void>;
}

export async function openUploadingTab(world: World, vault: VaultSession): Promise<UploadingTab> {
  let waitCount = 0;
  const retryPolicy: RetryPolicy = {
    wait: (_milliseconds, signal) => {
      waitCount++;
      signal.throwIfAborted();
      return Promise.resolve();
    },
  };
  const deps: UploadDeps = {
    records: await openUploadRecords(vault.device.storageKey),
    calls: createTransferCalls(world.service.http),
    getRunningIds: () => Promise.resolve(new Set()),
    retryPolicy,
  };
  return {
    ...deps,
    vault,
    waitCount: () => waitCount,
    send: (
      uploadId,
      file,
      {
        signal = new AbortController().signal,
        onProgress = () => undefined,
        digest = createResumableDigest(),
        records = deps.records,
      } = {},
    ) =>
      sendContent(
        {
          records: createSendingRecords(vault.device, records),
          calls: deps.calls,
          digest,
          retryPolicy,
          now: vault.now,
        },
        uploadId,
        file,
        { signal, onProgress },
      ),
  };
}

/**
 * Opens a tab on the user's own device. The secret "First" is protected by the picture "market".
 */
export async function openTabWithFirstSecret(
  world: World,
): Promise<{ readonly tab: UploadingTab; readonly laptop: VaultSession; readonly firstId: string }> {
  const laptop = await world.open();
  const { secretId: first } = await protect(laptop, textSecret("First", makePicture("market")), {});
  await setDeviceKind(laptop, "own");
  return { tab: await openUploadingTab(world, laptop), laptop, firstId: first };
}

export function createGate(): { readonly whenOpened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { whenOpened: opened, open };
}

/** Generates random bytes, even more than one call of getRandomValues returns. */
export function randomFile(size: number): { readonly plaintext: Bytes; readonly file: Blob } {
  const plain = new Uint8Array(size);
  for (let offset = 0; offset < size; offset += 65_536) plain.set(randomBytes(Math.min(65_536, size - offset)), offset);
  return { plaintext: plain, file: new Blob([plain]) };
}

/** Protects with a picture, or with the openers of the book. */
export function fileSecret<PictureInput = never>(
  title: string,
  content: Blob,
  picture?: PictureInput,
): ReturnType<typeof textSecret<PictureInput>> {
  return { ...textSecret(title, picture), contentKind: "file", name: "film.mp4", mime: "video/mp4", content };
}

export function makeProtectPlan({ content, ...request }: ProtectRequest): UploadPlan {
  return { operation: "protect", request, size: content.size, handle: null };
}
