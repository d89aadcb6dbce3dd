import type { ContentKind } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { wipe, type Bytes } from "../seal/bytes.ts";
import { paddedLength, pieceSize, countPieces, sealedLength, sealedPieceSize } from "../seal/content-sizes.ts";
import { openPieces, createPieceCipher } from "./piece-cipher.ts";
import type { ResumableDigest } from "./resumable-digest.ts";
import { stripPadding } from "./sealed-file.ts";
import { commitOnSuccess, type Sink } from "./sinks.ts";
import { retryUntilSuccess, type RetryPolicy } from "./retry-until-success.ts";
import type { ContentLocation, TransferCalls } from "./upload-calls.ts";

/**
 * A content that an opener was shown for: what opens its pieces, and what it must be. Holds a key.
 */
export type OpenableContent = ContentLocation & {
  /** 32 bytes, for this content alone. Secret. */
  readonly payloadKey: Bytes;
  readonly prefixLength: number;
  readonly kind: ContentKind;
  /** Bytes of the plain content, as the ticket says. */
  readonly size: number;
  /** base64url, over the whole sealed content, as the ticket says. */
  readonly sha256: string;
};

export interface SaveDeps {
  readonly calls: Pick<TransferCalls, "range">;
  readonly digest: ResumableDigest;
  readonly retryPolicy: RetryPolicy;
  readonly sink: Sink;
}

/** About 4 MiB: whole pieces, so that each range opens by itself. */
const piecesPerRange = 64;
/**
 * Ranges on their way, or waiting to be opened. They pass the page: more of them, or larger ones,
 * are its memory.
 */
const prefetchCount = 3;

/**
 * [Note: Download sequence]
 * 1. Sealed ranges of whole pieces are fetched, three ahead. A lost connection costs the range that
 *    it broke.
 * 2. Each is opened, written to the sink, and taken into the digest, in order.
 * 3. When the last byte is there, and the digest is the ticket's, the sink is committed; after
 *    anything else it is emptied.
 *
 * @throws PortalError `decryption_failed`, `cancelled`, `storage_full`, and those of a call.
 */
export async function saveContent(
  deps: SaveDeps,
  content: OpenableContent,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (done: number, total: number) => void },
): Promise<Blob | null> {
  const prefetchController = new AbortController(); // ranges ahead are not waited for after a failure
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
  const plainLength = paddedLength(kind, size);
  const length = sealedLength(prefixLength, plainLength);
  const pieceTotal = countPieces(plainLength);
  const cipher = await createPieceCipher(content.payloadKey);
  wipe(content.payloadKey);

  const getSealedOffset = (piece: number): number =>
    piece === 0 ? 0 : Math.min(length, prefixLength + piece * sealedPieceSize);
  const fetchRange = async (piece: number): Promise<Bytes> => {
    const [start, end] = [getSealedOffset(piece), getSealedOffset(piece + piecesPerRange)];
    const { bytes, size: totalSize } = await retryUntilSuccess(
      () => calls.range(content, start, end, signal),
      retryPolicy,
      signal,
    );
    if (totalSize !== length || bytes.length !== end - start) throw new PortalError("decryption_failed");
    return bytes;
  };
  const pendingRanges: Promise<Bytes>[] = [];
  const prefetch = (piece: number): void => {
    if (piece >= pieceTotal) return;
    const range = fetchRange(piece);
    range.catch(() => undefined); // heard of in its turn
    pendingRanges.push(range);
  };

  const buffer = new Uint8Array(Math.min(plainLength, piecesPerRange * pieceSize)); // for one range at a time
  try {
    await digest.start(null);
    let pendingDigestUpdate: Promise<unknown> = Promise.resolve();
    for (let index = 0; index < prefetchCount; index++) prefetch(index * piecesPerRange);
    for (let piece = 0; piece < pieceTotal; piece += piecesPerRange) {
      const sealed = await pendingRanges.shift();
      if (sealed === undefined) throw new TypeError("no range was fetched");
      prefetch(piece + prefetchCount * piecesPerRange);
      const isLast = piece + piecesPerRange >= pieceTotal;
      const opened = await openPieces(
        cipher,
        piece === 0 ? sealed.subarray(prefixLength) : sealed,
        piece,
        isLast,
        buffer,
      );
      await pendingDigestUpdate;
      pendingDigestUpdate = digest.update(sealed); // takes the bytes away, while the next range is opened
      pendingDigestUpdate.catch(() => undefined);
      if (signal.aborted) throw new PortalError("cancelled", { cause: signal.reason });
      await sink.write(isLast ? stripPadding(opened, plainLength - size) : opened);
      onProgress(getSealedOffset(piece + piecesPerRange), length);
    }
    await pendingDigestUpdate;
    // the last moment: what is committed can be seen
    if (signal.aborted) throw new PortalError("cancelled", { cause: signal.reason });
    if ((await digest.finish()) !== content.sha256) throw new PortalError("decryption_failed");
  } finally {
    cipher.dispose();
    wipe(buffer);
  }
}
