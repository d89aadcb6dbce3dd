import type { ContentKind } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { wipe, type Bytes } from "../seal/bytes.ts";
import {
  computePaddedLength,
  chunkSize,
  countChunks,
  computeSealedLength,
  sealedChunkSize,
} from "../seal/content-sizes.ts";
import { openChunks, createChunkCipher } from "./chunk-cipher.ts";
import type { ResumableDigest } from "./resumable-digest.ts";
import { stripPadding } from "./sealed-file.ts";
import { commitOnSuccess, type Sink } from "./sinks.ts";
import { retryUntilSuccess, type RetryPolicy } from "./retry-until-success.ts";
import type { ContentLocation, TransferCalls } from "./upload-calls.ts";

/** Opens and verifies the chunks of one content; created from its ticket. Contains a key. */
export type OpenableContent = ContentLocation & {
  /** 32 bytes. Secret. */
  readonly payloadKey: Bytes;
  readonly prefixLength: number;
  readonly kind: ContentKind;
  /** Length of the plaintext in bytes. */
  readonly size: number;
  /** Digest of the whole sealed content, base64url. */
  readonly sha256: string;
};

export interface SaveDeps {
  readonly calls: Pick<TransferCalls, "range">;
  readonly digest: ResumableDigest;
  readonly retryPolicy: RetryPolicy;
  readonly sink: Sink;
}

/** About 4 MiB: whole chunks, so that each range can be opened separately. */
const chunksPerRange = 64;
/**
 * Number of ranges fetched or waiting to be opened. They pass through the page and use its memory.
 */
const prefetchCount = 3;

/**
 * [Note: Download sequence]
 * 1. Sealed ranges of whole chunks are fetched, three ahead. After a lost connection only the
 *    interrupted ranges are fetched again.
 * 2. Each range is opened, written to the sink and added to the digest, in order.
 * 3. If everything is written and the digest equals the ticket's, the sink is committed; otherwise
 *    it is discarded.
 *
 * @throws PortalError `decryption_failed`, `cancelled`, `storage_full`, and errors of the calls
 */
export async function saveContent(
  deps: SaveDeps,
  content: OpenableContent,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (done: number, total: number) => void },
): Promise<Blob> {
  const prefetchController = new AbortController(); // stops prefetching after a failure
  try {
    return await commitOnSuccess(deps.sink, () =>
      streamToSink(deps, content, AbortSignal.any([signal, prefetchController.signal]), onProgress),
    );
  } finally {
    prefetchController.abort();
  }
}

async function streamToSink(
  { calls, digest, retryPolicy, sink }: SaveDeps,
  content: OpenableContent,
  signal: AbortSignal,
  onProgress: (done: number, total: number) => void,
): Promise<void> {
  const { prefixLength, kind, size } = content;
  const plainLength = computePaddedLength(kind, size);
  const length = computeSealedLength(prefixLength, plainLength);
  const chunkTotal = countChunks(plainLength);
  const cipher = await createChunkCipher(content.payloadKey);
  wipe(content.payloadKey);

  const getSealedOffset = (chunkIndex: number): number =>
    chunkIndex === 0 ? 0 : Math.min(length, prefixLength + chunkIndex * sealedChunkSize);
  const fetchRange = async (chunkIndex: number): Promise<Bytes> => {
    const [start, end] = [getSealedOffset(chunkIndex), getSealedOffset(chunkIndex + chunksPerRange)];
    const { bytes, size: totalSize } = await retryUntilSuccess(
      () => calls.range(content, start, end, signal),
      retryPolicy,
      signal,
    );
    if (totalSize !== length || bytes.length !== end - start) throw new PortalError("decryption_failed");
    return bytes;
  };
  const pendingRanges: Promise<Bytes>[] = [];
  const prefetch = (chunkIndex: number): void => {
    if (chunkIndex >= chunkTotal) return;
    const range = fetchRange(chunkIndex);
    range.catch(() => undefined); // thrown when the range is awaited
    pendingRanges.push(range);
  };

  const buffer = new Uint8Array(Math.min(plainLength, chunksPerRange * chunkSize)); // reused for each range
  try {
    await digest.start(null);
    let pendingDigestUpdate: Promise<unknown> = Promise.resolve();
    for (let rangeIndex = 0; rangeIndex < prefetchCount; rangeIndex++) prefetch(rangeIndex * chunksPerRange);
    for (let chunkIndex = 0; chunkIndex < chunkTotal; chunkIndex += chunksPerRange) {
      const sealed = await pendingRanges.shift();
      if (sealed === undefined) throw new TypeError("expected a fetched range");
      prefetch(chunkIndex + prefetchCount * chunksPerRange);
      const isLast = chunkIndex + chunksPerRange >= chunkTotal;
      const opened = await openChunks(
        cipher,
        chunkIndex === 0 ? sealed.subarray(prefixLength) : sealed,
        chunkIndex,
        isLast,
        buffer,
      );
      await pendingDigestUpdate;
      pendingDigestUpdate = digest.update(sealed); // detaches the bytes; runs while the next range is opened
      pendingDigestUpdate.catch(() => undefined);
      if (signal.aborted) throw new PortalError("cancelled", { cause: signal.reason });
      await sink.write(isLast ? stripPadding(opened, plainLength - size) : opened);
      onProgress(getSealedOffset(chunkIndex + chunksPerRange), length);
    }
    await pendingDigestUpdate;
    // last chance to cancel: a commit makes the content visible
    if (signal.aborted) throw new PortalError("cancelled", { cause: signal.reason });
    if ((await digest.finish()) !== content.sha256) throw new PortalError("decryption_failed");
  } finally {
    cipher.dispose();
    wipe(buffer);
  }
}
