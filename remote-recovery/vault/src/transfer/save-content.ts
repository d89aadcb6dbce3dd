import type { ContentKind } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { wipe, type Bytes } from "../seal/bytes.ts";
import { paddedLength, pieceBytes, pieceCount, sealedLength, sealedPieceBytes } from "../seal/content-pieces.ts";
import { openPieces, pieceCipher } from "./piece-cipher.ts";
import type { RunningDigest } from "./running-digest.ts";
import { withoutPadding } from "./sealed-file.ts";
import { committed, type Sink } from "./sinks.ts";
import { untilThrough, type Patience } from "./until-through.ts";
import type { ContentAt, TransferCalls } from "./upload-calls.ts";

/**
 * A content that an opener was shown for: what opens its pieces, and what it must be. Holds a key.
 */
export type OpenableContent = ContentAt & {
  /** 32 bytes, for this content alone. Secret. */
  readonly payloadKey: Bytes;
  readonly prefixLength: number;
  readonly kind: ContentKind;
  /** Bytes of the plain content, as the ticket says. */
  readonly size: number;
  /** base64url, over the whole sealed content, as the ticket says. */
  readonly sha256: string;
};

export interface SaveParts {
  readonly calls: Pick<TransferCalls, "range">;
  readonly digest: RunningDigest;
  readonly patience: Patience;
  readonly sink: Sink;
}

/** About 4 MiB: whole pieces, so that each range opens by itself. */
const piecesAtOnce = 64;
/**
 * Ranges on their way, or waiting to be opened. They pass the page: more of them, or larger ones,
 * are its memory.
 */
const ahead = 3;

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
  parts: SaveParts,
  content: OpenableContent,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (done: number, total: number) => void },
): Promise<Blob | null> {
  const stop = new AbortController(); // ranges ahead are not waited for after a failure
  try {
    return await committed(parts.sink, () =>
      openInto(parts, content, AbortSignal.any([signal, stop.signal]), onProgress),
    );
  } finally {
    stop.abort();
  }
}

async function openInto(
  { calls, digest, patience, sink }: SaveParts,
  content: OpenableContent,
  signal: AbortSignal,
  onProgress: (done: number, total: number) => void,
): Promise<void> {
  const { prefixLength, kind, size } = content;
  const plainLength = paddedLength(kind, size);
  const length = sealedLength(prefixLength, plainLength);
  const pieces = pieceCount(plainLength);
  const cipher = await pieceCipher(content.payloadKey);
  wipe(content.payloadKey);

  const startOf = (piece: number): number =>
    piece === 0 ? 0 : Math.min(length, prefixLength + piece * sealedPieceBytes);
  const fetchFrom = async (piece: number): Promise<Bytes> => {
    const [start, end] = [startOf(piece), startOf(piece + piecesAtOnce)];
    const { bytes, size: whole } = await untilThrough(() => calls.range(content, start, end, signal), patience, signal);
    if (whole !== length || bytes.length !== end - start) throw new PortalError("decryption_failed");
    return bytes;
  };
  const fetching: Promise<Bytes>[] = [];
  const fetchAhead = (piece: number): void => {
    if (piece >= pieces) return;
    const range = fetchFrom(piece);
    range.catch(() => undefined); // heard of in its turn
    fetching.push(range);
  };

  const room = new Uint8Array(Math.min(plainLength, piecesAtOnce * pieceBytes)); // for one range at a time
  try {
    await digest.start(null);
    let hashing: Promise<unknown> = Promise.resolve();
    for (let index = 0; index < ahead; index++) fetchAhead(index * piecesAtOnce);
    for (let piece = 0; piece < pieces; piece += piecesAtOnce) {
      const sealed = await fetching.shift();
      if (sealed === undefined) throw new TypeError("no range was fetched");
      fetchAhead(piece + ahead * piecesAtOnce);
      const last = piece + piecesAtOnce >= pieces;
      const opened = await openPieces(cipher, piece === 0 ? sealed.subarray(prefixLength) : sealed, piece, last, room);
      await hashing;
      hashing = digest.update(sealed); // takes the bytes away, while the next range is opened
      hashing.catch(() => undefined);
      if (signal.aborted) throw new PortalError("cancelled", { cause: signal.reason });
      await sink.write(last ? withoutPadding(opened, plainLength - size) : opened);
      onProgress(startOf(piece + piecesAtOnce), length);
    }
    await hashing;
    // the last moment: what is committed can be seen
    if (signal.aborted) throw new PortalError("cancelled", { cause: signal.reason });
    if ((await digest.finish()) !== content.sha256) throw new PortalError("decryption_failed");
  } finally {
    cipher.end();
    wipe(room);
  }
}
