import { randomBytes, type Bytes } from "../seal/bytes.ts";
import type { VaultContext } from "../vault-context.ts";
import { openUploadRecords, uploadsOf } from "../transfer/records.ts";
import { createRunningDigest, type RunningDigest } from "../transfer/running-digest.ts";
import { sendContent } from "../transfer/send-content.ts";
import type { Patience } from "../transfer/until-through.ts";
import { transferCallsOn } from "../transfer/upload-calls.ts";
import { protect } from "../acts/protect.ts";
import type { UploadOrder, UploadParts } from "../acts/resumable-uploads.ts";
import { answerDevice } from "../acts/unlock.ts";
import type { ProtectRequest } from "../shown-image.ts";
import { shown, textSecret, type World } from "./world.ts";

/** A tab as far as uploads need it: the vault's half, and the transfer's without its worker. */
export interface UploadingTab extends UploadParts {
  readonly vault: VaultContext;
  /** How often the outside was waited for. */
  readonly waits: () => number;
  readonly send: (
    uploadId: string,
    file: Blob,
    options?: Partial<{
      signal: AbortSignal;
      onProgress: (done: number, total: number) => void;
      digest: RunningDigest;
      records: UploadParts["records"];
    }>,
  ) => Promise<void>;
}

export async function uploadingTab(world: World, vault: VaultContext): Promise<UploadingTab> {
  let waits = 0;
  const patience: Patience = {
    wait: (_milliseconds, signal) => {
      waits++;
      signal.throwIfAborted();
      return Promise.resolve();
    },
  };
  const parts: UploadParts = {
    records: await openUploadRecords(vault.device.name),
    calls: transferCallsOn(world.service.http),
    running: () => Promise.resolve(new Set()),
    patience,
  };
  return {
    ...parts,
    vault,
    waits: () => waits,
    send: (
      uploadId,
      file,
      {
        signal = new AbortController().signal,
        onProgress = () => undefined,
        digest = createRunningDigest(),
        records = parts.records,
      } = {},
    ) =>
      sendContent(
        { records: uploadsOf(vault.device, records), calls: parts.calls, digest, patience, now: vault.now },
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
export async function tabWithFirst(
  world: World,
): Promise<{ readonly tab: UploadingTab; readonly laptop: VaultContext; readonly first: string }> {
  const laptop = await world.open();
  const { secretId: first } = await protect(laptop, textSecret("First", shown("market")), {});
  await answerDevice(laptop, "own");
  return { tab: await uploadingTab(world, laptop), laptop, first };
}

/** A moment that a test waits for, or brings about. */
export function moment(): { readonly come: Promise<void>; readonly happen: () => void } {
  let happen: () => void = () => undefined;
  const come = new Promise<void>((resolve) => {
    happen = resolve;
  });
  return { come, happen };
}

/** Bytes that do not repeat; more than one call of getRandomValues gives. */
export function randomFile(size: number): { readonly plain: Bytes; readonly file: Blob } {
  const plain = new Uint8Array(size);
  for (let at = 0; at < size; at += 65_536) plain.set(randomBytes(Math.min(65_536, size - at)), at);
  return { plain, file: new Blob([plain]) };
}

/** A request for a file, with a picture or with the openers of the book. */
export function fileSecret<Shown = never>(
  title: string,
  content: Blob,
  picture?: Shown,
): ReturnType<typeof textSecret<Shown>> {
  return { ...textSecret(title, picture), contentKind: "file", name: "film.mp4", mime: "video/mp4", content };
}

export function protectOrder({ content, ...request }: ProtectRequest): UploadOrder {
  return { act: "protect", request, size: content.size, handle: null };
}
