/** What a JPEG says of itself, and whether it goes on to its end. */
import { readExifOrientation } from "./exif-orientation.ts";
import { startsWith, unreadable, viewOf, type PictureHeader } from "./picture-file.ts";

/**
 * Segments up to the start of the first scan, then the scans up to the end (ISO/IEC 10918-1, annex
 * B).
 */
export function readJpegHeader(bytes: Uint8Array): PictureHeader {
  const view = viewOf(bytes);
  let orientation = 1;
  let frame: Frame | null = null;
  let at = 2;
  while (at + 4 <= bytes.length) {
    if (bytes[at] !== 0xff) throw unreadable("broken", "jpeg");
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1; // a fill byte
      continue;
    }
    if (standsAlone(marker)) {
      at += 2;
      continue;
    }
    const length = view.getUint16(at + 2);
    const end = at + 2 + length;
    if (length < 2 || end > bytes.length) throw unreadable("broken", "jpeg");
    const body = bytes.subarray(at + 4, end);
    if (marker === 0xda) {
      if (frame === null) throw unreadable("broken", "jpeg");
      const { leastBits, components, samples, ...header } = frame;
      if (8 * sizeOfScans(bytes, at, header.width * header.height) < leastBits) throw unreadable("broken", "jpeg");
      // Colours that come in scans of their own are put together at the end, as in a progressive
      // file.
      return (body[0] ?? 0) < components
        ? { ...header, orientation, extraBytesPerPixel: 2 * samples }
        : { ...header, orientation };
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

/** Markers without a length: TEM and restarts. */
function standsAlone(marker: number): boolean {
  return marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7);
}

/**
 * Programs write about ten; each costs a walk over all coefficients, so that a small file of many
 * would take minutes.
 */
const mostScans = 64;
/** Of the largest pictures; the time goes with scans times pixels. */
const mostScansOfLarge = 16;
const mostPixelsWalked = 768_000_000;

/**
 * Bytes of coded data from the first scan to the marker of the end. Without that marker the file is
 * cut: the decoder would fill in grey and only warn, or not even that after another warning.
 */
function sizeOfScans(bytes: Uint8Array, first: number, pixels: number): number {
  const most = Math.max(mostScansOfLarge, Math.min(mostScans, Math.floor(mostPixelsWalked / pixels)));
  const view = viewOf(bytes);
  let size = 0;
  let scans = 0;
  for (let at = first; at + 2 <= bytes.length;) {
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xd9) return size;
    if (bytes[at] !== 0xff || at + 4 > bytes.length || (marker === 0xda && ++scans > most)) break;
    const body = marker === 0xff ? at + 1 : standsAlone(marker) ? at + 2 : at + 2 + view.getUint16(at + 2);
    at = marker === 0xda ? endOfScan(bytes, body) : body;
    size += at - body;
  }
  throw unreadable("broken", "jpeg");
}

/** In coded data 0xff is followed by 0, by a restart, or by the next marker. */
function endOfScan(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0;
    if (next !== 0 && next !== 0xff && !standsAlone(next)) return at;
  }
  return bytes.length;
}

interface Frame extends Omit<PictureHeader, "orientation"> {
  /**
   * Fewer bits cannot hold its blocks: a code for each, and in a baseline file one for the end of
   * each as well.
   */
  readonly leastBits: number;
  readonly components: number;
  /** Of all components, for each pixel. */
  readonly samples: number;
}

function readFrame(marker: number, body: Uint8Array): Frame {
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
  const samples = samplesPerPixel(body, components);
  const leastBits = Math.floor(width / 8) * Math.floor(height / 8) * samples * (progressive ? 1 : 2);
  return {
    kind: "jpeg",
    width,
    height,
    extraBytesPerPixel: progressive ? 2 * samples : 0,
    leastBits,
    components,
    samples,
  };
}

/**
 * Of all components: subsampled ones have fewer. A progressive JPEG keeps a coefficient of two
 * bytes for each.
 */
function samplesPerPixel(body: Uint8Array, components: number): number {
  const samplings = Array.from({ length: components }, (_, i) => {
    const factors = body[7 + 3 * i] ?? 0;
    return { across: factors >> 4, down: factors & 15 };
  });
  const across = Math.max(...samplings.map((s) => s.across));
  const down = Math.max(...samplings.map((s) => s.down));
  if (samplings.some((s) => s.across < 1 || s.across > 4 || s.down < 1 || s.down > 4))
    throw unreadable("broken", "jpeg");
  return samplings.reduce((sum, s) => sum + (s.across * s.down) / (across * down), 0);
}
