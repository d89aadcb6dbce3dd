import createAvifDecoder from "@jsquash/avif/codec/dec/avif_dec.js";
import createJpegDecoder from "@jsquash/jpeg/codec/dec/mozjpeg_dec.js";
import createWebpDecoder from "@jsquash/webp/codec/dec/webp_dec.js";
import { PortalError } from "@relicario/shared/errors";
import type { Raster } from "../rows.ts";
import { decodeInFreshInstance } from "./emscripten.ts";
import { readHeader } from "./header.ts";
import { decodeHeic } from "./heic.ts";
import { maxPixels, unreadableError, type DecodedPicture, type PictureHeader } from "./picture-file.ts";
import { decodePng } from "./png.ts";

/** Codecs: the first two come with the engine, the others when a picture asks for them. */
export type CodecName = PictureHeader["kind"];

/** Estimated need above this is refused before decoding, in bytes. */
export const maxMemoryBytes = 900_000_000;

/**
 * Code, tables and slack of codec and engine, and the empty process around them: measured by `pnpm
 * fuzz:engine`.
 */
const baseMemoryBytes = 120_000_000;

/**
 * Memory that decoding and reading a picture will take at most, in bytes: the file twice, the
 * codec's RGBA and the copy that leaves it, what the codec keeps beside it, luma, the area table,
 * and what the self-test of an enrolment adds.
 */
export function estimateMemory({ width, height, extraBytesPerPixel }: PictureHeader, fileSize: number): number {
  const pixels = width * height;
  const factor = Math.max(1, Math.floor(Math.min(width, height) / 384));
  return (
    baseMemoryBytes + 2 * fileSize + pixels * (4 + 4 + extraBytesPerPixel + 1.3) + (8 * pixels) / (factor * factor)
  );
}

/**
 * Decodes a picture file to RGBA. The caller releases it. `picture_unreadable`,
 * `picture_too_large`; see readHeader for the details.
 */
export async function decodePicture(
  bytes: Uint8Array,
  loadCodec: (name: CodecName) => Promise<WebAssembly.Module>,
): Promise<Raster & { readonly release: () => void }> {
  const header = readHeader(bytes);
  const { kind, width, height, orientation, cropped = false } = header;
  const estimatedBytes = estimateMemory(header, bytes.length);
  if (width * height > maxPixels || estimatedBytes > maxMemoryBytes) {
    throw new PortalError("picture_too_large", { details: { width, height } });
  }
  const decoded = await decodeWith(kind, bytes, await loadCodec(kind), estimatedBytes);
  const matchesHeader = cropped
    ? decoded.width <= width && decoded.height <= height
    : decoded.width === width && decoded.height === height;
  if (!matchesHeader) {
    decoded.release();
    throw unreadableError("broken", kind);
  }
  return { ...decoded, orientation };
}

/**
 * A codec gets the memory that the header's size needs at most, and no more: that ends what a lie
 * in the file would begin.
 */
async function decodeWith(
  kind: CodecName,
  bytes: Uint8Array,
  module: WebAssembly.Module,
  maxMemory: number,
): Promise<DecodedPicture> {
  try {
    switch (kind) {
      case "jpeg":
        return await decodeJpeg(bytes, module, maxMemory);
      case "png":
        return decodePng(bytes, module); // asks for its memory itself, by the size in its first chunk
      case "webp":
        return await decodeWebp(bytes, module, maxMemory);
      case "avif":
        return await decodeAvif(bytes, module, maxMemory);
      case "heic":
        return await decodeHeic(bytes, module, maxMemory);
    }
  } catch (error) {
    // Whatever a codec throws (a trap, a C++ exception's address, out of memory) means: it could
    // not read this file.
    throw error instanceof PortalError ? error : unreadableError("broken", kind, error);
  }
}

/**
 * libjpeg fills in grey for what is missing, and only warns; of several warnings it says the first
 * alone.
 */
const truncationWarning = /premature end/i;
/** A part of the picture is lost: worth a try while it takes little memory. */
const damageWarning = /premature end|bad Huffman code|instead of RST/i;
/** A broken picture may take so many bytes. */
const maxBrokenPictureBytes = 600_000_000;

/**
 * Decodes a baseline or progressive JPEG with mozjpeg. EXIF orientation and ICC profiles are not
 * applied. `picture_unreadable` when the file is broken, or a part of it is missing.
 */
export function decodeJpeg(bytes: Uint8Array, module: WebAssembly.Module, maxMemory: number): Promise<DecodedPicture> {
  const fatalWarning = maxMemory > maxBrokenPictureBytes ? damageWarning : truncationWarning;
  return decodeInFreshInstance(
    { kind: "jpeg", create: createJpegDecoder, decode: (codec, file) => codec.decode(file, false), fatalWarning },
    module,
    maxMemory,
    bytes,
  );
}

/**
 * Decodes a still WebP, lossy or lossless, with libwebp. `picture_unreadable` when the file is
 * broken or cut.
 */
function decodeWebp(bytes: Uint8Array, module: WebAssembly.Module, maxMemory: number): Promise<DecodedPicture> {
  return decodeInFreshInstance(
    { kind: "webp", create: createWebpDecoder, decode: (codec, file) => codec.decode(file) },
    module,
    maxMemory,
    bytes,
  );
}

/**
 * Decodes an AVIF with libavif to 8 bits a channel. Its turn and mirror are not applied: the header
 * says them. `picture_unreadable` when the file is broken or cut.
 */
function decodeAvif(bytes: Uint8Array, module: WebAssembly.Module, maxMemory: number): Promise<DecodedPicture> {
  return decodeInFreshInstance(
    { kind: "avif", create: createAvifDecoder, decode: (codec, file) => codec.decode(file, 8) },
    module,
    maxMemory,
    bytes,
  );
}
