import createAvifDecoder from "@jsquash/avif/codec/dec/avif_dec.js";
import createJpegDecoder from "@jsquash/jpeg/codec/dec/mozjpeg_dec.js";
import createWebpDecoder from "@jsquash/webp/codec/dec/webp_dec.js";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import type { Raster } from "../picture-rows.ts";
import { decodeInFreshInstance } from "./emscripten.ts";
import { readHeader } from "./header.ts";
import { decodeHeic } from "./heic.ts";
import { maxPixels, unreadableError, type DecodedPicture, type PictureHeader } from "./picture-file.ts";
import { decodePng } from "./png.ts";
import { repairPicture } from "./repair.ts";

/** JPEG and PNG are part of the engine; the other codecs load when a picture needs them. */
export type CodecName = PictureHeader["kind"];

/** Memory limit in bytes. A picture whose estimate exceeds it is rejected before decoding. */
export const maxMemoryBytes = 900_000_000;

/**
 * Bytes for code, tables and reserve of codec and engine, and for the process. Measured by `pnpm
 * fuzz:engine`.
 */
const baseMemoryBytes = 120_000_000;

/**
 * Estimates the peak memory of decoding and reading a picture, in bytes. Counts the file twice, the
 * codec's RGBA and its copy, other data of the codec, luma, the area table, and the self-test.
 */
export function estimateMemory({ width, height, extraBytesPerPixel }: PictureHeader, fileSize: number): number {
  const pixels = width * height;
  const factor = Math.max(1, Math.floor(Math.min(width, height) / 384));
  return (
    baseMemoryBytes + 2 * fileSize + pixels * (4 + 4 + extraBytesPerPixel + 1.3) + (8 * pixels) / (factor * factor)
  );
}

export interface PictureRaster extends Raster {
  readonly release: () => void;
  /**
   * Why the file is damaged; null for an intact file. Parts of the picture may be missing, so later
   * copies of the file may decode differently.
   */
  readonly damage: PortalError | null;
}

type LoadCodec = (name: CodecName) => Promise<WebAssembly.Module>;

/**
 * Decodes a picture file to RGBA, which the caller must release. Decodes what is left of a damaged
 * file. Rejects with `picture_unreadable` (see {@link readHeader} for details) or
 * `picture_too_large`.
 */
export async function decodePicture(bytes: Uint8Array, loadCodec: LoadCodec): Promise<PictureRaster> {
  try {
    return { ...(await decodeFile(bytes, loadCodec)), damage: null };
  } catch (error) {
    if (!isPortalError(error, "picture_unreadable") || error.details["reason"] !== "broken") throw error;
    const raster = await decodeDamaged(bytes, error.details["kind"], loadCodec);
    if (raster === null) throw error;
    return { ...raster, damage: error };
  }
}

/** Null if nothing can be decoded. */
async function decodeDamaged(bytes: Uint8Array, kind: unknown, loadCodec: LoadCodec): Promise<DecodedRaster | null> {
  let repairedBytes: Uint8Array | null = null;
  try {
    repairedBytes = await repairPicture(bytes, kind);
    return repairedBytes === null ? null : await decodeFile(repairedBytes, loadCodec, true);
  } catch (error) {
    if (error instanceof RangeError || isPortalError(error, "picture_unreadable")) return null;
    throw error;
  } finally {
    repairedBytes?.fill(0);
  }
}

type DecodedRaster = Omit<PictureRaster, "damage">;

/** @param isDamaged whether to accept missing parts, which the decoder fills in */
async function decodeFile(bytes: Uint8Array, loadCodec: LoadCodec, isDamaged = false): Promise<DecodedRaster> {
  const header = readHeader(bytes);
  const { kind, width, height, orientation, cropped = false } = header;
  const estimatedBytes = estimateMemory(header, bytes.length);
  if (width * height > maxPixels || estimatedBytes > maxMemoryBytes) {
    throw new PortalError("picture_too_large", { details: { width, height } });
  }
  const decoded = await decodeWith(kind, bytes, await loadCodec(kind), estimatedBytes, isDamaged);
  const matchesHeader = cropped
    ? decoded.width <= width && decoded.height <= height
    : decoded.width === width && decoded.height === height;
  if (!matchesHeader) {
    decoded.release();
    throw unreadableError("broken", kind);
  }
  return { ...decoded, orientation };
}

/** Limits a codec's memory to what the header's size needs, whatever size the content claims. */
async function decodeWith(
  kind: CodecName,
  bytes: Uint8Array,
  module: WebAssembly.Module,
  maxMemory: number,
  isDamaged: boolean,
): Promise<DecodedPicture> {
  try {
    switch (kind) {
      case "jpeg":
        return await decodeJpeg(bytes, module, maxMemory, isDamaged);
      case "png":
        return decodePng(bytes, module); // allocates by the size in the header's chunk
      case "webp":
        return await decodeWebp(bytes, module, maxMemory);
      case "avif":
        return await decodeAvif(bytes, module, maxMemory);
      case "heic":
        return await decodeHeic(bytes, module, maxMemory);
    }
  } catch (error) {
    // Anything that a codec throws means that it could not read the file: a trap, the address of a
    // C++ exception, or out of memory.
    throw error instanceof PortalError ? error : unreadableError("broken", kind, error);
  }
}

/**
 * libjpeg only warns about missing parts and fills them with grey. It reports only its first
 * warning.
 */
const truncationWarning = /premature end/i;
/** Warnings about lost parts of a picture. Fatal only if the picture needs much memory. */
const damageWarning = /premature end|bad Huffman code|instead of RST/i;
/** Memory limit in bytes for decoding a broken picture. */
const maxBrokenPictureBytes = 600_000_000;

/**
 * Decodes a baseline or progressive JPEG with mozjpeg. Ignores EXIF orientation and ICC profiles.
 * Rejects with `picture_unreadable` if the file is broken, or incomplete without `isDamaged`.
 */
export function decodeJpeg(
  bytes: Uint8Array,
  module: WebAssembly.Module,
  maxMemory: number,
  isDamaged = false,
): Promise<DecodedPicture> {
  const fatalWarning = maxMemory > maxBrokenPictureBytes ? damageWarning : isDamaged ? null : truncationWarning;
  return decodeInFreshInstance(
    { kind: "jpeg", create: createJpegDecoder, decode: (codec, file) => codec.decode(file, false), fatalWarning },
    module,
    maxMemory,
    bytes,
  );
}

/**
 * Decodes a still WebP, lossy or lossless, with libwebp. Rejects with `picture_unreadable` if the
 * file is broken or cut.
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
 * Decodes an AVIF with libavif, to 8 bits per channel. Ignores rotation and mirror, which the
 * header contains. Rejects with `picture_unreadable` if the file is broken or cut.
 */
function decodeAvif(bytes: Uint8Array, module: WebAssembly.Module, maxMemory: number): Promise<DecodedPicture> {
  return decodeInFreshInstance(
    { kind: "avif", create: createAvifDecoder, decode: (codec, file) => codec.decode(file, 8) },
    module,
    maxMemory,
    bytes,
  );
}
