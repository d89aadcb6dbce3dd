import type { ContentKind } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { copyOf, freeBuffers, type Bytes } from "../seal/bytes.ts";
import { paddedLength, pieceSize, countPieces, sealedLength, sealedPieceSize } from "../seal/content-sizes.ts";
import { PiecePool, type PieceCipher } from "./piece-cipher.ts";

/**
 * A file as its age file, any range of which can be made again at any time: the same bytes for the
 * same file.
 */
export interface SealedFile {
  /** Bytes of the age file. */
  readonly length: number;
  /**
   * Bytes from `start` to before `end`, in a buffer that is nobody else's and may be longer.
   * `file_changed` when the file can no longer be read as it was.
   */
  readonly range: (start: number, end: number) => Promise<Bytes>;
  /**
   * Whether a range from here goes on with what the last one ended with: the piece between them is
   * at hand, or there is none.
   */
  readonly continuesAt: (start: number) => boolean;
}

/** @param file the plain content; a text is padded here. */
export function createSealedFile(file: Blob, kind: ContentKind, prefix: Uint8Array, cipher: PieceCipher): SealedFile {
  const plainLength = paddedLength(kind, file.size);
  const plain = plainLength === file.size ? file : new Blob([file, "\n".repeat(plainLength - file.size)]);
  const length = sealedLength(prefix.length, plainLength);
  const pieceTotal = countPieces(plainLength);
  /**
   * A piece that two ranges share is sealed once: a file that is written to in between would give
   * two halves that do not fit.
   */
  let boundaryPiece: { readonly index: number; readonly sealed: Bytes } | null = null;

  return {
    length,
    range: async (start, end) => {
      if (end <= prefix.length) return copyOf(prefix.subarray(start, end));
      const firstPiece = Math.floor(Math.max(0, start - prefix.length) / sealedPieceSize);
      const endPiece = Math.min(pieceTotal, Math.ceil((end - prefix.length) / sealedPieceSize));
      // of the first byte that is made here
      const outputStart = start < prefix.length ? 0 : prefix.length + firstPiece * sealedPieceSize;
      const output = new Uint8Array(
        sealedLength(prefix.length, Math.min(plainLength, endPiece * pieceSize)) - outputStart,
      );
      if (outputStart === 0) output.set(prefix);
      const getOutputOffset = (index: number): number => prefix.length + index * sealedPieceSize - outputStart;
      const pool = new PiecePool();
      const sealPiece = async (piece: Bytes, index: number): Promise<void> => {
        const sealed = await cipher.seal(piece, index, index === pieceTotal - 1);
        output.set(sealed, getOutputOffset(index));
        freeBuffers(sealed);
      };
      let index = firstPiece;
      if (boundaryPiece?.index === firstPiece) output.set(boundaryPiece.sealed, getOutputOffset(index++));
      if (index < endPiece)
        for await (const piece of readPieces(plain, index * pieceSize, Math.min(plainLength, endPiece * pieceSize)))
          await pool.add(sealPiece(piece, index++));
      await pool.drain();
      boundaryPiece =
        end - outputStart < output.length
          ? { index: endPiece - 1, sealed: output.slice(getOutputOffset(endPiece - 1)) }
          : null;
      return output.subarray(start - outputStart, end - outputStart);
    },
    continuesAt: (start) => {
      const payloadOffset = start - prefix.length;
      return (
        payloadOffset <= 0 ||
        payloadOffset % sealedPieceSize === 0 ||
        boundaryPiece?.index === Math.floor(payloadOffset / sealedPieceSize)
      );
    },
  };
}

/**
 * Pieces of 64 KiB from `start` to before `end`, the last perhaps shorter; an empty one when there
 * is nothing. Each is gone when the next is asked for. As a stream: asking for each range by itself
 * takes the browser longer than sealing it.
 */
async function* readPieces(file: Blob, start: number, end: number): AsyncGenerator<Bytes, void> {
  const piece = new Uint8Array(pieceSize);
  let [filled, totalRead] = [0, 0];
  const reader = file.slice(start, end).stream().getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw new PortalError("file_changed", { cause }); // moved, deleted or written to since it was chosen
      });
      if (done) break;
      totalRead += value.length;
      for (let offset = 0; offset < value.length;) {
        const copyLength = Math.min(pieceSize - filled, value.length - offset);
        piece.set(value.subarray(offset, offset + copyLength), filled);
        [offset, filled] = [offset + copyLength, filled + copyLength];
        if (filled < pieceSize) break;
        yield piece;
        filled = 0;
      }
      freeBuffers(value);
    }
  } finally {
    await reader.cancel().catch(() => undefined); // what failed first is told
  }
  if (totalRead !== end - start) throw new PortalError("file_changed");
  if (filled > 0 || end === start) yield piece.subarray(0, filled);
}

/**
 * Cuts the padding of the last piece of a text after checking it. @throws PortalError
 * `decryption_failed`.
 */
export function stripPadding(lastPiece: Bytes, padding: number): Bytes {
  const size = lastPiece.length - padding;
  if (size < 0 || !lastPiece.subarray(size).every((byte) => byte === 0x0a)) throw new PortalError("decryption_failed");
  return padding === 0 ? lastPiece : copyOf(lastPiece.subarray(0, size));
}
