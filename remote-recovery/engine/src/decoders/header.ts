/**
 * Reads a picture file's header before decoding: kind, size, orientation, and the fields that
 * determine the memory. Ignores all metadata except the orientation tag.
 */
import { readIsoHeader } from "./iso-header.ts";
import { readJpegHeader } from "./jpeg-header.ts";
import { readExifOrientation } from "./exif-orientation.ts";
import { identifyUnsupportedKind } from "./unsupported-kinds.ts";
import { maxPixels, startsWith, unreadableError, toDataView, type PictureHeader } from "./picture-file.ts";

/**
 * Reads the header. Throws `picture_unreadable` with `details.reason`: `empty`, `not_a_picture`,
 * `unsupported` (a picture of another kind, in `details.kind`) or `broken`.
 */
export function readHeader(bytes: Uint8Array): PictureHeader {
  if (bytes.length === 0) throw unreadableError("empty");
  if (startsWith(bytes, 0xff, 0xd8, 0xff)) return readJpegHeader(bytes);
  if (startsWith(bytes, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return readPngHeader(bytes);
  if (isWebp(bytes)) return readWebpHeader(bytes);
  const isoHeader = readIsoHeader(bytes);
  if (isoHeader !== null) return isoHeader;
  const unsupportedKind = identifyUnsupportedKind(bytes);
  throw unsupportedKind === null ? unreadableError("not_a_picture") : unreadableError("unsupported", unsupportedKind);
}

/**
 * Reads the chunks of a PNG (third edition, 5.3): IHDR first, eXIf anywhere, IEND last. A file
 * without IEND is cut.
 */
function readPngHeader(bytes: Uint8Array): PictureHeader {
  const view = toDataView(bytes);
  if (bytes.length < 33 || readChunkType(bytes, 8) !== "IHDR" || view.getUint32(8) !== 13)
    throw unreadableError("broken", "png");
  const width = view.getUint32(16);
  const height = view.getUint32(20);
  let orientation = 1;
  let dataLength = 0;
  let hasEnd = false;
  for (let offset = 33; offset + 12 <= bytes.length && !hasEnd;) {
    const length = view.getUint32(offset);
    const type = readChunkType(bytes, offset);
    if (offset + 12 + length > bytes.length) break;
    if (type === "eXIf") orientation = readExifOrientation(bytes.subarray(offset + 8, offset + 8 + length)) ?? 1;
    if (type === "IDAT") dataLength += length;
    hasEnd = type === "IEND";
    offset += 12 + length;
  }
  const bitsPerPixel = view.getUint8(24) * (channelCounts[view.getUint8(25)] ?? 0);
  if (width === 0 || height === 0 || bitsPerPixel === 0 || !hasEnd) throw unreadableError("broken", "png");
  if (width * height <= maxPixels && dataLength * maxInflationRatio < (width * height * bitsPerPixel) / 8)
    throw unreadableError("broken", "png");
  return { kind: "png", width, height, orientation, extraBytesPerPixel: 0 };
}

/** Channels by colour type: grey, RGB, palette, grey and alpha, RGBA. */
const channelCounts: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
/** Limit of bytes that one deflated byte inflates to (zlib's maximum). */
const maxInflationRatio = 1032;

function isWebp(bytes: Uint8Array): boolean {
  return startsWith(bytes, 0x52, 0x49, 0x46, 0x46) && startsWith(bytes.subarray(8), 0x57, 0x45, 0x42, 0x50);
}

/** Reads the chunks of a RIFF file (RFC 9649), which states the length of the file. */
function readWebpHeader(bytes: Uint8Array): PictureHeader {
  const view = toDataView(bytes);
  let size: { width: number; height: number; lossless: boolean } | null = null;
  let orientation = 1;
  const end = view.getUint32(4, true) + 8;
  if (end > bytes.length) throw unreadableError("broken", "webp");
  for (let offset = 12; offset + 8 <= end;) {
    const type = readChunkType(bytes, offset - 4);
    const length = view.getUint32(offset + 4, true);
    const body = bytes.subarray(offset + 8, Math.min(end, offset + 8 + length));
    if (type.startsWith("VP8") && body.length < length) throw unreadableError("broken", "webp");
    if (type === "VP8X" && body.length >= 10 && ((body[0] ?? 0) & 2) !== 0)
      throw unreadableError("unsupported", "animated_webp");
    if (type === "VP8 " || type === "VP8L") size ??= type === "VP8 " ? parseLossySize(body) : parseLosslessSize(body);
    if (type === "EXIF")
      orientation = readExifOrientation(startsWith(body, 0x45, 0x78, 0x69, 0x66, 0, 0) ? body.subarray(6) : body) ?? 1;
    offset += 8 + length + (length & 1);
  }
  if (size === null || size.width === 0 || size.height === 0) throw unreadableError("broken", "webp");
  return {
    kind: "webp",
    width: size.width,
    height: size.height,
    orientation,
    extraBytesPerPixel: size.lossless ? 5 : 2,
  };
}

function parseLossySize(body: Uint8Array) {
  if (body.length < 10 || !startsWith(body.subarray(3), 0x9d, 0x01, 0x2a)) throw unreadableError("broken", "webp");
  const view = toDataView(body);
  return { width: view.getUint16(6, true) & 0x3fff, height: view.getUint16(8, true) & 0x3fff, lossless: false };
}

function parseLosslessSize(body: Uint8Array) {
  if (body.length < 5 || body[0] !== 0x2f) throw unreadableError("broken", "webp");
  const bits = toDataView(body).getUint32(1, true);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1, lossless: true };
}

function readChunkType(bytes: Uint8Array, offset: number): string {
  return String.fromCharCode(...bytes.subarray(offset + 4, offset + 8));
}
