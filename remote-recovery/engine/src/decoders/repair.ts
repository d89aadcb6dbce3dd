/**
 * Rebuilds files that strict readers reject but viewers show: cut files, a JPEG with bytes between
 * its segments, an AVIF without `pixi`. The decoder then gets what is left of the picture.
 */
import { addMissingProperties } from "./avif-properties.ts";
import { readBoxes } from "./iso-boxes.ts";
import { findScanEnd, isStandaloneMarker } from "./jpeg-header.ts";
import { concatBytes, toDataView } from "./picture-file.ts";

/**
 * Returns a rebuilt copy, or null if nothing can be done. Checks nothing, so the caller must read
 * the header again. Throws a RangeError for an offset outside the file.
 *
 * @param kind kind of the reader that rejected the file
 */
export async function repairPicture(bytes: Uint8Array, kind: unknown): Promise<Uint8Array | null> {
  switch (kind) {
    case "jpeg":
      return repairJpeg(bytes);
    case "png":
      return repairPng(bytes);
    case "webp":
      return repairWebp(bytes);
    case "avif":
      return addMissingProperties(bytes); // no viewer decodes a cut AVIF, because AV1 checks the last bits
    case "heic":
      return padLastBox(bytes);
    default:
      return null;
  }
}

const jpegEnd = Uint8Array.of(0xff, 0xd9);

/** Keeps segments and scans up to the end of the file, without the bytes between segments. */
function repairJpeg(bytes: Uint8Array): Uint8Array | null {
  const view = toDataView(bytes);
  const pieces = [bytes.subarray(0, 2)];
  let hasScan = false;
  for (let offset = findMarker(bytes, 2); offset + 4 <= bytes.length;) {
    const marker = bytes[offset + 1] ?? 0;
    if (marker === 0xd9) break;
    const length = isStandaloneMarker(marker) ? 0 : view.getUint16(offset + 2);
    const bodyEnd = offset + 2 + length;
    if (bodyEnd > bytes.length) break;
    const end = marker === 0xda ? findScanEnd(bytes, bodyEnd) : bodyEnd;
    if (length >= 2) pieces.push(bytes.subarray(offset, end));
    hasScan ||= marker === 0xda;
    offset = findMarker(bytes, end);
  }
  return hasScan ? concatBytes([...pieces, jpegEnd]) : null;
}

/**
 * Finds a marker like libjpeg: 0xff, then neither 0xff nor 0. Returns the file's length without
 * one.
 */
function findMarker(bytes: Uint8Array, start: number): number {
  for (let offset = bytes.indexOf(0xff, start); offset !== -1; offset = bytes.indexOf(0xff, offset + 1)) {
    const marker = bytes[offset + 1] ?? 0;
    if (marker !== 0xff && marker !== 0) return offset;
  }
  return bytes.length;
}

/** IEND with its checksum. */
const pngEnd = Uint8Array.of(0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82);

/** Chunks up to where the file ends. Of a cut file, the pixels that are there, in one chunk. */
async function repairPng(bytes: Uint8Array): Promise<Uint8Array | null> {
  const view = toDataView(bytes);
  const pieces = [bytes.subarray(0, 8)];
  const packedPixels: Uint8Array[] = [];
  for (let offset = 8; offset + 8 < bytes.length;) {
    const length = Math.min(view.getUint32(offset), bytes.length - offset - 8);
    const type = String.fromCharCode(...bytes.subarray(offset + 4, offset + 8));
    if (type === "IEND") break;
    const data = bytes.subarray(offset + 8, offset + 8 + length);
    if (type === "IDAT") packedPixels.push(data);
    else if (packedPixels.length === 0) pieces.push(...createPngChunk(bytes.subarray(offset + 4, offset + 8), data));
    offset += 12 + length;
  }
  const pixels = await unpackAvailable(concatBytes(packedPixels), getPngPixelBytes(view));
  if (pixels === null) return null;
  const packed = new Blob([pixels]).stream().pipeThrough(new CompressionStream("deflate"));
  const data = new Uint8Array(await new Response(packed).arrayBuffer());
  pixels.fill(0);
  return concatBytes([...pieces, ...createPngChunk(Uint8Array.of(0x49, 0x44, 0x41, 0x54), data), pngEnd]);
}

/** The codec ignores checksums. */
function createPngChunk(type: Uint8Array, data: Uint8Array): Uint8Array[] {
  const head = new Uint8Array(4);
  toDataView(head).setUint32(0, data.length);
  return [head, type, data, new Uint8Array(4)];
}

/** Bytes of a bigger picture are not rebuilt. */
const maxPngPixelBytes = 200_000_000;
const pngChannels = new Map([
  [0, 1],
  [2, 3],
  [3, 1],
  [4, 2],
  [6, 4],
]);
/** First column and row, and the distances to the next ones (PNG, section 8.2). */
const pngPasses = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** Unpacked bytes of all rows, each with its filter. */
function getPngPixelBytes(view: DataView): number {
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  const bitsPerPixel = view.getUint8(24) * (pngChannels.get(view.getUint8(25)) ?? 0);
  const passes = view.getUint8(28) === 1 ? pngPasses : [[0, 0, 1, 1] as const];
  return passes.reduce((total, [left, top, columnStep, rowStep]) => {
    const [columns, rows] = [Math.ceil((width - left) / columnStep), Math.ceil((height - top) / rowStep)];
    return total + (columns <= 0 || rows <= 0 ? 0 : rows * (1 + Math.ceil((columns * bitsPerPixel) / 8)));
  }, 0);
}

/** Packed bytes unpacked at a time: of a cut file, the last ones may be lost. */
const sliceBytes = 512;

/** The rest is zeros. Null when more than half is missing, or the picture is too big. */
async function unpackAvailable(packed: Uint8Array, size: number): Promise<Uint8Array<ArrayBuffer> | null> {
  if (size === 0 || size > maxPngPixelBytes) return null;
  const unpacked = new Uint8Array(size);
  let length = 0;
  let offset = 0;
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull: (controller) => {
        if (offset >= packed.length) controller.close();
        else controller.enqueue(Uint8Array.from(packed.subarray(offset, (offset += sliceBytes))));
      },
    },
    { highWaterMark: 0 },
  );
  const reader = source.pipeThrough(new DecompressionStream("deflate")).getReader();
  try {
    for (let read = await reader.read(); !read.done && length < size; read = await reader.read()) {
      const chunk = read.value.subarray(0, size - length);
      unpacked.set(chunk, length);
      length += chunk.length;
    }
    await reader.cancel();
  } catch {
    // The file is cut: what came before is used.
  }
  return 2 * length < size ? null : unpacked;
}

/** Keeps all chunks, pads the last one with zeros, and corrects the length of the file. */
function repairWebp(bytes: Uint8Array): Uint8Array | null {
  const view = toDataView(bytes);
  let end = 12;
  while (end + 8 <= bytes.length && /^\w{3}[\w ]$/.test(String.fromCharCode(...bytes.subarray(end, end + 4)))) {
    const length = view.getUint32(end + 4, true);
    end += 8 + length + (length & 1);
  }
  const out = resizeWithZeros(bytes, end);
  if (out !== null) toDataView(out).setUint32(4, end - 8, true);
  return out;
}

/** Pads the last box of an ISO base media file with zeros. Null for a complete file. */
function padLastBox(bytes: Uint8Array): Uint8Array | null {
  const [lastBox] = readBoxes(toDataView(bytes), 0).slice(-1);
  if (lastBox === undefined) return null;
  const start = lastBox.start - bytes.byteOffset;
  const end = start + toDataView(bytes).getUint32(start);
  return end > bytes.length ? resizeWithZeros(bytes, end) : null;
}

/** Null if more than half would be missing, because such a copy opens nothing. */
function resizeWithZeros(bytes: Uint8Array, length: number): Uint8Array | null {
  if (length > 2 * bytes.length) return null;
  const out = new Uint8Array(length);
  out.set(bytes.subarray(0, length));
  return out;
}
