import type { ContentKind } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { copyOf, release, type Bytes } from "../seal/bytes.ts";
import { paddedLength, pieceBytes, pieceCount, sealedLength, sealedPieceBytes } from "../seal/content-pieces.ts";
import { inTurns, type PieceCipher } from "./piece-cipher.ts";

/** A file as its age file, any range of which can be made again at any time: the same bytes for the same file. */
export interface SealedFile {
  /** Bytes of the age file. */
  readonly length: number;
  /** Bytes from `start` to before `end`, in a buffer that is nobody else's and may be longer. `file_changed` when the file can no longer be read as it was. */
  readonly range: (start: number, end: number) => Promise<Bytes>;
}

/** About 1 MiB: what is read and sealed in one step. */
const piecesAtOnce = 16;
const stepsAtOnce = 3;

/** @param file the plain content; a text is padded here. */
export function sealedFile(file: Blob, kind: ContentKind, prefix: Uint8Array, cipher: PieceCipher): SealedFile {
  const plainLength = paddedLength(kind, file.size);
  const plain = plainLength === file.size ? file : new Blob([file, "\n".repeat(plainLength - file.size)]);
  const length = sealedLength(prefix.length, plainLength);
  const pieces = pieceCount(plainLength);

  return {
    length,
    range: async (start, end) => {
      if (end <= prefix.length) return copyOf(prefix.subarray(start, end));
      const first = Math.floor(Math.max(0, start - prefix.length) / sealedPieceBytes);
      const beyond = Math.min(pieces, Math.ceil((end - prefix.length) / sealedPieceBytes));
      const at = start < prefix.length ? 0 : prefix.length + first * sealedPieceBytes; // of the first byte that is made here
      const made = new Uint8Array(sealedLength(prefix.length, Math.min(plainLength, beyond * pieceBytes)) - at);
      if (at === 0) made.set(prefix);
      // Read in small steps, so that the next bytes come while the last are sealed.
      await inTurns(Math.ceil((beyond - first) / piecesAtOnce), stepsAtOnce, async (step) => {
        const [from, to] = [first + step * piecesAtOnce, Math.min(beyond, first + (step + 1) * piecesAtOnce)];
        const opened = await read(plain, from * pieceBytes, Math.min(plainLength, to * pieceBytes));
        await cipher.seal(opened, from, to === pieces, made.subarray(prefix.length + from * sealedPieceBytes - at));
        release(opened);
      });
      return made.subarray(start - at, end - at);
    },
  };
}

async function read(file: Blob, start: number, end: number): Promise<Bytes> {
  let bytes: Bytes;
  try {
    bytes = new Uint8Array(await file.slice(start, end).arrayBuffer());
  } catch (cause) {
    throw new PortalError("file_changed", { cause }); // moved, deleted or written to since it was chosen
  }
  if (bytes.length !== end - start) throw new PortalError("file_changed");
  return bytes;
}

/** Cuts the padding of the last piece of a text after checking it. @throws PortalError `decryption_failed`. */
export function withoutPadding(last: Bytes, padding: number): Bytes {
  const size = last.length - padding;
  if (size < 0 || !last.subarray(size).every((byte) => byte === 0x0a)) throw new PortalError("decryption_failed");
  return padding === 0 ? last : copyOf(last.subarray(0, size));
}
