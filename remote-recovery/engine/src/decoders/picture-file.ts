/**
 * What all readers of picture files share: what a header says, what a codec gives, and how a file
 * is refused.
 */
import { PortalError } from "@relicario/shared/errors";

/** More is refused before decoding. */
export const maxPixels = 52_000_000;

export interface PictureHeader {
  readonly kind: "jpeg" | "png" | "webp" | "avif" | "heic";
  /** As stored. */
  readonly width: number;
  readonly height: number;
  /** EXIF orientation 1…8 that is left to apply after decoding; 1 when the file names none. */
  readonly orientation: number;
  /**
   * Bytes per pixel that the codec keeps while decoding, beside its RGBA result: coefficients, or
   * planes of another colour space.
   */
  readonly extraBytesPerPixel: number;
  /**
   * The codec crops what it has decoded (HEIC's clean aperture): then the result is this size or
   * smaller.
   */
  readonly cropped?: boolean;
}

/** Pixels of a codec: RGBA as stored, valid until `release`, which clears them. */
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
