import type { ContentKind } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { copyOf, release, type Bytes } from "../seal/bytes.ts";
import { paddedLength, pieceBytes, pieceCount, sealedLength, sealedPieceBytes } from "../seal/content-pieces.ts";
import { PiecesUnderWay, type PieceCipher } from "./piece-cipher.ts";

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
export function sealedFile(file: Blob, kind: ContentKind, prefix: Uint8Array, cipher: PieceCipher): SealedFile {
  const plainLength = paddedLength(kind, file.size);
  const plain = plainLength === file.size ? file : new Blob([file, "\n".repeat(plainLength - file.size)]);
  const length = sealedLength(prefix.length, plainLength);
  const pieces = pieceCount(plainLength);
  /**
   * A piece that two ranges share is sealed once: a file that is written to in between would give
   * two halves that do not fit.
   */
  let border: { readonly index: number; readonly sealed: Bytes } | null = null;

  return {
    length,
    range: async (start, end) => {
      if (end <= prefix.length) return copyOf(prefix.subarray(start, end));
      const first = Math.floor(Math.max(0, start - prefix.length) / sealedPieceBytes);
      const beyond = Math.min(pieces, Math.ceil((end - prefix.length) / sealedPieceBytes));
      // of the first byte that is made here
      const at = start < prefix.length ? 0 : prefix.length + first * sealedPieceBytes;
      const made = new Uint8Array(sealedLength(prefix.length, Math.min(plainLength, beyond * pieceBytes)) - at);
      if (at === 0) made.set(prefix);
      const startOf = (index: number): number => prefix.length + index * sealedPieceBytes - at;
      const underWay = new PiecesUnderWay();
      const one = async (piece: Bytes, index: number): Promise<void> => {
        const sealed = await cipher.seal(piece, index, index === pieces - 1);
        made.set(sealed, startOf(index));
        release(sealed);
      };
      let index = first;
      if (border?.index === first) made.set(border.sealed, startOf(index++));
      if (index < beyond)
        for await (const piece of piecesOf(plain, index * pieceBytes, Math.min(plainLength, beyond * pieceBytes)))
          await underWay.add(one(piece, index++));
      await underWay.done();
      border = end - at < made.length ? { index: beyond - 1, sealed: made.slice(startOf(beyond - 1)) } : null;
      return made.subarray(start - at, end - at);
    },
    continuesAt: (start) => {
      const inPayload = start - prefix.length;
      return (
        inPayload <= 0 ||
        inPayload % sealedPieceBytes === 0 ||
        border?.index === Math.floor(inPayload / sealedPieceBytes)
      );
    },
  };
}

/**
 * Pieces of 64 KiB from `start` to before `end`, the last perhaps shorter; an empty one when there
 * is nothing. Each is gone when the next is asked for. As a stream: asking for each range by itself
 * takes the browser longer than sealing it.
 */
async function* piecesOf(file: Blob, start: number, end: number): AsyncGenerator<Bytes, void> {
  const piece = new Uint8Array(pieceBytes);
  let [filled, read] = [0, 0];
  const reader = file.slice(start, end).stream().getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw new PortalError("file_changed", { cause }); // moved, deleted or written to since it was chosen
      });
      if (done) break;
      read += value.length;
      for (let at = 0; at < value.length;) {
        const taken = Math.min(pieceBytes - filled, value.length - at);
        piece.set(value.subarray(at, at + taken), filled);
        [at, filled] = [at + taken, filled + taken];
        if (filled < pieceBytes) break;
        yield piece;
        filled = 0;
      }
      release(value);
    }
  } finally {
    await reader.cancel().catch(() => undefined); // what failed first is told
  }
  if (read !== end - start) throw new PortalError("file_changed");
  if (filled > 0 || end === start) yield piece.subarray(0, filled);
}

/**
 * Cuts the padding of the last piece of a text after checking it. @throws PortalError
 * `decryption_failed`.
 */
export function withoutPadding(last: Bytes, padding: number): Bytes {
  const size = last.length - padding;
  if (size < 0 || !last.subarray(size).every((byte) => byte === 0x0a)) throw new PortalError("decryption_failed");
  return padding === 0 ? last : copyOf(last.subarray(0, size));
}
