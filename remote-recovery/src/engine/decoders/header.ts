/**
 * What a picture file says of itself, read before anything is decoded: kind, size, orientation, and what decides how much
 * memory it needs. Reads nothing else; of the metadata only the orientation tag is looked at.
 */
import { PortalError } from "@relicario/shared/errors";
import { readIsoHeader } from "./iso-header.ts";
import { readExifOrientation } from "./exif-orientation.ts";

export interface PictureHeader {
  readonly kind: "jpeg" | "png" | "webp" | "avif" | "heic";
  /** As stored. */
  readonly width: number;
  readonly height: number;
  /** EXIF orientation 1…8 that is left to apply after decoding; 1 when the file names none. */
  readonly orientation: number;
  /** Bytes per pixel that the codec keeps while decoding, beside its RGBA result: coefficients, or planes of another colour space. */
  readonly extraBytesPerPixel: number;
  /** The codec crops what it has decoded (HEIC's clean aperture): then the result is this size or smaller. */
  readonly cropped?: boolean;
}

/**
 * Reads the header. `picture_unreadable` with `details.reason`: `empty`, `not_a_picture`, `unsupported` (a picture, but of a
 * kind that is not read: `details.kind`) or `broken`.
 */
export function readHeader(bytes: Uint8Array): PictureHeader {
  if (bytes.length === 0) throw unreadable("empty");
  if (startsWith(bytes, 0xff, 0xd8, 0xff)) return readJpegHeader(bytes);
  if (startsWith(bytes, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return readPngHeader(bytes);
  if (isWebp(bytes)) return readWebpHeader(bytes);
  const iso = readIsoHeader(bytes);
  if (iso !== null) return iso;
  const other = otherKind(bytes);
  throw other === null ? unreadable("not_a_picture") : unreadable("unsupported", other);
}

export function unreadable(reason: "empty" | "not_a_picture" | "unsupported" | "broken" | "too_small", kind?: string, cause?: unknown): PortalError {
  return new PortalError("picture_unreadable", {
    details: kind === undefined ? { reason } : { reason, kind },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Segments up to the start of the first scan (ISO/IEC 10918-1, annex B). */
function readJpegHeader(bytes: Uint8Array): PictureHeader {
  const view = viewOf(bytes);
  let orientation = 1;
  let frame: Omit<PictureHeader, "orientation"> | null = null;
  let at = 2;
  while (at + 4 <= bytes.length) {
    if (bytes[at] !== 0xff) throw unreadable("broken", "jpeg");
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1; // a fill byte
      continue;
    }
    if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) {
      at += 2; // stands alone
      continue;
    }
    const length = view.getUint16(at + 2);
    const end = at + 2 + length;
    if (length < 2 || end > bytes.length) throw unreadable("broken", "jpeg");
    const body = bytes.subarray(at + 4, end);
    if (marker === 0xda) {
      if (frame === null || countScans(bytes.subarray(at)) > mostScans) throw unreadable("broken", "jpeg");
      return { ...frame, orientation };
    }
    if (marker === 0xe1 && orientation === 1 && startsWith(body, 0x45, 0x78, 0x69, 0x66, 0, 0)) {
      orientation = readExifOrientation(body.subarray(6)) ?? 1;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame && frame === null) frame = readFrame(marker, body);
    at = end;
  }
  throw unreadable("broken", "jpeg");
}

/** Programs write about ten; each costs a walk over all coefficients, so that a small file of many would take minutes. */
const mostScans = 64;

/** Start-of-scan markers: inside a scan 0xff is followed by 0 or by a marker. */
function countScans(bytes: Uint8Array): number {
  let scans = 0;
  for (let at = bytes.indexOf(0xff); at !== -1; at = bytes.indexOf(0xff, at + 1)) if (bytes[at + 1] === 0xda) scans++;
  return scans;
}

function readFrame(marker: number, body: Uint8Array): Omit<PictureHeader, "orientation"> {
  const components = body[5] ?? 0;
  if (body.length < 6 + 3 * components) throw unreadable("broken", "jpeg");
  if (marker > 0xc2) throw unreadable("unsupported", marker === 0xc3 ? "lossless_jpeg" : "arithmetic_jpeg");
  if (body[0] !== 8) throw unreadable("unsupported", "twelve_bit_jpeg");
  if (components === 4) throw unreadable("unsupported", "cmyk_jpeg");
  if (components !== 1 && components !== 3) throw unreadable("unsupported", "jpeg");
  const view = viewOf(body);
  const height = view.getUint16(1);
  const width = view.getUint16(3);
  if (width === 0 || height === 0) throw unreadable("broken", "jpeg");
  const progressive = marker === 0xc2;
  return { kind: "jpeg", width, height, extraBytesPerPixel: progressive ? coefficientBytes(body, components) : 0 };
}

/** A progressive JPEG keeps all its coefficients, two bytes each; subsampled components have fewer. */
function coefficientBytes(body: Uint8Array, components: number): number {
  const samplings = Array.from({ length: components }, (_, i) => {
    const factors = body[7 + 3 * i] ?? 0;
    return { across: factors >> 4, down: factors & 15 };
  });
  const across = Math.max(...samplings.map((s) => s.across));
  const down = Math.max(...samplings.map((s) => s.down));
  if (samplings.some((s) => s.across < 1 || s.across > 4 || s.down < 1 || s.down > 4)) throw unreadable("broken", "jpeg");
  return samplings.reduce((sum, s) => sum + (2 * s.across * s.down) / (across * down), 0);
}

/** Chunks (PNG, third edition, 5.3): IHDR first, eXIf anywhere. */
function readPngHeader(bytes: Uint8Array): PictureHeader {
  const view = viewOf(bytes);
  if (bytes.length < 33 || chunkType(bytes, 8) !== "IHDR" || view.getUint32(8) !== 13) throw unreadable("broken", "png");
  const width = view.getUint32(16);
  const height = view.getUint32(20);
  if (width === 0 || height === 0) throw unreadable("broken", "png");
  let orientation = 1;
  for (let at = 33; at + 12 <= bytes.length; ) {
    const length = view.getUint32(at);
    if (at + 12 + length > bytes.length) break; // the decoder judges a cut file
    const type = chunkType(bytes, at);
    if (type === "eXIf") orientation = readExifOrientation(bytes.subarray(at + 8, at + 8 + length)) ?? 1;
    if (type === "eXIf" || type === "IEND") break;
    at += 12 + length;
  }
  return { kind: "png", width, height, orientation, extraBytesPerPixel: 0 };
}

function isWebp(bytes: Uint8Array): boolean {
  return startsWith(bytes, 0x52, 0x49, 0x46, 0x46) && startsWith(bytes.subarray(8), 0x57, 0x45, 0x42, 0x50);
}

/** Chunks of a RIFF file (RFC 9649). */
function readWebpHeader(bytes: Uint8Array): PictureHeader {
  const view = viewOf(bytes);
  let size: { width: number; height: number; lossless: boolean } | null = null;
  let orientation = 1;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const type = chunkType(bytes, at - 4);
    const length = view.getUint32(at + 4, true);
    const body = bytes.subarray(at + 8, Math.min(bytes.length, at + 8 + length));
    if (type === "VP8X" && body.length >= 10 && ((body[0] ?? 0) & 2) !== 0) throw unreadable("unsupported", "animated_webp");
    if (type === "VP8 " || type === "VP8L") size ??= type === "VP8 " ? lossySize(body) : losslessSize(body);
    if (type === "EXIF") orientation = readExifOrientation(startsWith(body, 0x45, 0x78, 0x69, 0x66, 0, 0) ? body.subarray(6) : body) ?? 1;
    at += 8 + length + (length & 1);
  }
  if (size === null || size.width === 0 || size.height === 0) throw unreadable("broken", "webp");
  return { kind: "webp", width: size.width, height: size.height, orientation, extraBytesPerPixel: size.lossless ? 4 : 1.5 };
}

function lossySize(body: Uint8Array) {
  if (body.length < 10 || !startsWith(body.subarray(3), 0x9d, 0x01, 0x2a)) throw unreadable("broken", "webp");
  const view = viewOf(body);
  return { width: view.getUint16(6, true) & 0x3fff, height: view.getUint16(8, true) & 0x3fff, lossless: false };
}

function losslessSize(body: Uint8Array) {
  if (body.length < 5 || body[0] !== 0x2f) throw unreadable("broken", "webp");
  const bits = viewOf(body).getUint32(1, true);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1, lossless: true };
}

function chunkType(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at + 4, at + 8));
}

/** Pictures that are known but not read, so that the answer can say "save it as JPEG or PNG". */
function otherKind(bytes: Uint8Array): string | null {
  const text = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to));
  if (text(0, 4) === "GIF8") return "gif";
  if (text(0, 2) === "BM" && bytes.length > 26) return "bmp";
  if (text(0, 4) === "II*\0" || text(0, 4) === "MM\0*") return "tiff"; // and most RAW formats
  if (startsWith(bytes, 0xff, 0x0a) || text(4, 8) === "JXL ") return "jpeg_xl";
  if (/^\s*(<\?xml[^>]*>\s*)?(<!--[^]*?-->\s*)?(<!DOCTYPE svg[^>]*>\s*)?<svg[\s>]/.test(text(0, 512))) return "svg";
  return null;
}

function startsWith(bytes: Uint8Array, ...start: readonly number[]): boolean {
  return bytes.length >= start.length && start.every((value, index) => bytes[index] === value);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
