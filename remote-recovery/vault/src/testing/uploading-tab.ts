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

/** A tab as far as uploads need it: the vault's half, and the transfer's without its worker. */
export interface UploadingTab extends UploadDeps {
  readonly vault: VaultSession;
  /** How often the outside was waited for. */
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
  let waits = 0;
  const retryPolicy: RetryPolicy = {
    wait: (_milliseconds, signal) => {
      waits++;
      signal.throwIfAborted();
      return Promise.resolve();
    },
  };
  const deps: UploadDeps = {
    records: await openUploadRecords(vault.device.name),
    calls: createTransferCalls(world.service.http),
    getRunningIds: () => Promise.resolve(new Set()),
    retryPolicy,
  };
  return {
    ...deps,
    vault,
    waitCount: () => waits,
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
 * A tab of a person's own device, whose account has one secret, "First", behind the picture
 * "market".
 */
export async function openTabWithFirstSecret(
  world: World,
): Promise<{ readonly tab: UploadingTab; readonly laptop: VaultSession; readonly first: string }> {
  const laptop = await world.open();
  const { secretId: first } = await protect(laptop, textSecret("First", makePicture("market")), {});
  await setDeviceKind(laptop, "own");
  return { tab: await openUploadingTab(world, laptop), laptop, first };
}

/** A moment that a test waits for, or brings about. */
export function createGate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Bytes that do not repeat; more than one call of getRandomValues gives. */
export function randomFile(size: number): { readonly plain: Bytes; readonly file: Blob } {
  const plain = new Uint8Array(size);
  for (let offset = 0; offset < size; offset += 65_536) plain.set(randomBytes(Math.min(65_536, size - offset)), offset);
  return { plain, file: new Blob([plain]) };
}

/** A request for a file, with a picture or with the openers of the book. */
export function fileSecret<PictureInput = never>(
  title: string,
  content: Blob,
  picture?: PictureInput,
): ReturnType<typeof textSecret<PictureInput>> {
  return { ...textSecret(title, picture), contentKind: "file", name: "film.mp4", mime: "video/mp4", content };
}

export function makeProtectOrder({ content, ...request }: ProtectRequest): UploadPlan {
  return { operation: "protect", request, size: content.size, handle: null };
}
