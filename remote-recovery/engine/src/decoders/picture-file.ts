/** Types and helpers of all picture readers: header, decoded picture, and errors. */
import { PortalError } from "@relicario/shared/errors";

/** Larger pictures are refused before decoding. */
export const maxPixels = 52_000_000;

export interface PictureHeader {
  readonly kind: "jpeg" | "png" | "webp" | "avif" | "heic";
  /** Width as stored, before orientation. */
  readonly width: number;
  readonly height: number;
  /** EXIF orientation 1…8 to apply after decoding; 1 if the file has none. */
  readonly orientation: number;
  /**
   * Bytes per pixel that the codec keeps in addition to its RGBA result: coefficients, or planes of
   * another colour space.
   */
  readonly extraBytesPerPixel: number;
  /**
   * Whether the codec crops its result (HEIC's clean aperture). The result then has this size or a
   * smaller one.
   */
  readonly cropped?: boolean;
}

/** Pixels from a codec: RGBA as stored, valid until `release` clears them. */
export interface DecodedPicture {
  readonly width: number;
  readonly height: number;
  readonly rgba: Uint8Array;
  readonly release: () => void;
}

export function unreadableError(
  reason: "empty" | "not_a_picture" | "unsupported" | "broken" | "too_small",
  kind?: string,
  cause?: unknown,
): PortalError {
  return new PortalError("picture_unreadable", {
    details: kind === undefined ? { reason } : { reason, kind },
    ...(cause === undefined ? {} : { cause }),
  });
}

export function startsWith(bytes: Uint8Array, ...start: readonly number[]): boolean {
  return bytes.length >= start.length && start.every((value, index) => bytes[index] === value);
}

export function toDataView(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export function concatBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const piece of pieces) {
    out.set(piece, offset);
    offset += piece.length;
  }
  return out;
}
