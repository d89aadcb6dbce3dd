import type { ContentKind } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { copyOf, release, type Bytes } from "../seal/bytes.ts";
import { paddedLength, pieceBytes, pieceCount, sealedLength, sealedPieceBytes } from "../seal/content-pieces.ts";
import type { PieceCipher } from "./piece-cipher.ts";

/** A file as its age file, any range of which can be made again at any time: the same bytes for the same file. */
export interface SealedFile {
  /** Bytes of the age file. */
  readonly length: number;
  /** Bytes from `start` to before `end`. `file_changed` when the file can no longer be read as it was. */
  readonly range: (start: number, end: number) => Promise<Bytes>;
}

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
      const opened = await read(plain, first * pieceBytes, Math.min(plainLength, beyond * pieceBytes));
      const sealed = await cipher.seal(opened, first, beyond === pieces);
      release(opened);
      const at = prefix.length + first * sealedPieceBytes; // of the first byte of `sealed`
      const from = Math.max(start, at);
      const bytes = new Uint8Array(end - start);
      bytes.set(prefix.subarray(start, end));
      bytes.set(sealed.subarray(from - at, end - at), from - start);
      release(sealed);
      return bytes;
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
