/** Reads the header of a JPEG, and checks that its scans reach the end marker. */
import { readExifOrientation } from "./exif-orientation.ts";
import { startsWith, unreadableError, toDataView, type PictureHeader } from "./picture-file.ts";

/**
 * Reads segments up to the first scan, then skips the scans up to the end (ISO/IEC 10918-1, annex
 * B).
 */
export function readJpegHeader(bytes: Uint8Array): PictureHeader {
  const view = toDataView(bytes);
  let orientation = 1;
  let frame: Frame | null = null;
  let offset = 2;
  while (offset + 4 <= bytes.length) {
    if (bytes[offset] !== 0xff) throw unreadableError("broken", "jpeg");
    const marker = bytes[offset + 1] ?? 0;
    if (marker === 0xff) {
      offset += 1; // a fill byte
      continue;
    }
    if (isStandaloneMarker(marker)) {
      offset += 2;
      continue;
    }
    const length = view.getUint16(offset + 2);
    const end = offset + 2 + length;
    if (length < 2 || end > bytes.length) throw unreadableError("broken", "jpeg");
    const body = bytes.subarray(offset + 4, end);
    if (marker === 0xda) {
      if (frame === null) throw unreadableError("broken", "jpeg");
      const { minBits, componentCount, samplesPerPixel, ...header } = frame;
      if (8 * measureScans(bytes, offset, header.width * header.height) < minBits)
        throw unreadableError("broken", "jpeg");
      // The decoder merges components of separate scans at the end, like in a progressive file.
      return (body[0] ?? 0) < componentCount
        ? { ...header, orientation, extraBytesPerPixel: 2 * samplesPerPixel }
        : { ...header, orientation };
    }
    if (marker === 0xe1 && orientation === 1 && startsWith(body, 0x45, 0x78, 0x69, 0x66, 0, 0)) {
      orientation = readExifOrientation(body.subarray(6)) ?? 1;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame && frame === null) frame = readFrame(marker, body);
    offset = end;
  }
  throw unreadableError("broken", "jpeg");
}

/** Whether a marker has no length: TEM and restarts. */
export function isStandaloneMarker(marker: number): boolean {
  return marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7);
}

/**
 * Limit of scans; programs write about ten. Each scan visits all coefficients, so a small file with
 * many scans would take minutes.
 */
const maxScans = 64;
/** Limit for the largest pictures, because time grows with scans times pixels. */
const maxScansOfLargePicture = 16;
const maxScannedPixels = 768_000_000;

/**
 * Bytes of coded data from the first scan to the end marker. A file without the marker is cut: the
 * decoder would fill in grey and warn at most once.
 */
function measureScans(bytes: Uint8Array, firstScan: number, pixels: number): number {
  const scanLimit = Math.max(maxScansOfLargePicture, Math.min(maxScans, Math.floor(maxScannedPixels / pixels)));
  const view = toDataView(bytes);
  let codedSize = 0;
  let scanCount = 0;
  for (let offset = firstScan; offset + 2 <= bytes.length;) {
    const marker = bytes[offset + 1] ?? 0;
    if (marker === 0xd9) return codedSize;
    if (bytes[offset] !== 0xff || offset + 4 > bytes.length || (marker === 0xda && ++scanCount > scanLimit)) break;
    const bodyOffset =
      marker === 0xff ? offset + 1 : isStandaloneMarker(marker) ? offset + 2 : offset + 2 + view.getUint16(offset + 2);
    offset = marker === 0xda ? findScanEnd(bytes, bodyOffset) : bodyOffset;
    codedSize += offset - bodyOffset;
  }
  throw unreadableError("broken", "jpeg");
}

/**
 * Finds the end of coded data, in which 0xff is followed by 0 or a restart, until the next marker.
 */
export function findScanEnd(bytes: Uint8Array, start: number): number {
  for (let offset = bytes.indexOf(0xff, start); offset !== -1; offset = bytes.indexOf(0xff, offset + 1)) {
    const nextByte = bytes[offset + 1] ?? 0;
    if (nextByte !== 0 && nextByte !== 0xff && !isStandaloneMarker(nextByte)) return offset;
  }
  return bytes.length;
}

interface Frame extends Omit<PictureHeader, "orientation"> {
  /**
   * Lower bound of bits for the frame's blocks: one code per block and, in a baseline file, one end
   * of block.
   */
  readonly minBits: number;
  readonly componentCount: number;
  /** Samples of all components. */
  readonly samplesPerPixel: number;
}

function readFrame(marker: number, body: Uint8Array): Frame {
  const componentCount = body[5] ?? 0;
  if (body.length < 6 + 3 * componentCount) throw unreadableError("broken", "jpeg");
  if (marker > 0xc2) throw unreadableError("unsupported", marker === 0xc3 ? "lossless_jpeg" : "arithmetic_jpeg");
  if (body[0] !== 8) throw unreadableError("unsupported", "twelve_bit_jpeg");
  if (componentCount === 4) throw unreadableError("unsupported", "cmyk_jpeg");
  if (componentCount !== 1 && componentCount !== 3) throw unreadableError("unsupported", "jpeg");
  const view = toDataView(body);
  const height = view.getUint16(1);
  const width = view.getUint16(3);
  if (width === 0 || height === 0) throw unreadableError("broken", "jpeg");
  const progressive = marker === 0xc2;
  const samplesPerPixel = computeSamplesPerPixel(body, componentCount);
  const minBits = Math.floor(width / 8) * Math.floor(height / 8) * samplesPerPixel * (progressive ? 1 : 2);
  return {
    kind: "jpeg",
    width,
    height,
    extraBytesPerPixel: progressive ? 2 * samplesPerPixel : 0,
    minBits,
    componentCount,
    samplesPerPixel,
  };
}

/**
 * Samples per pixel of all components; subsampled components have fewer. A progressive JPEG keeps
 * two bytes per sample.
 */
function computeSamplesPerPixel(body: Uint8Array, components: number): number {
  const samplings = Array.from({ length: components }, (_, i) => {
    const factors = body[7 + 3 * i] ?? 0;
    return { horizontal: factors >> 4, vertical: factors & 15 };
  });
  const maxHorizontal = Math.max(...samplings.map((sampling) => sampling.horizontal));
  const maxVertical = Math.max(...samplings.map((sampling) => sampling.vertical));
  if (
    samplings.some(
      (sampling) =>
        sampling.horizontal < 1 || sampling.horizontal > 4 || sampling.vertical < 1 || sampling.vertical > 4,
    )
  )
    throw unreadableError("broken", "jpeg");
  return samplings.reduce(
    (sum, sampling) => sum + (sampling.horizontal * sampling.vertical) / (maxHorizontal * maxVertical),
    0,
  );
}
