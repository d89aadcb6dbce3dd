/** The vectors of ../vectors with types, and their pictures. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import { z } from "zod";
import type { Pixels } from "./generated-pictures.ts";

const gateRow = z.object({
  verdict: z.string(),
  without_size_rule: z.string(),
  reasons: z.array(z.string()),
  red_reasons: z.array(z.string()),
  measures: z.record(z.string(), z.number()),
});
const searchRow = z.object({
  recovered: z.boolean(),
  errors: z.number().nullable(),
  score: z.number(),
  reason: z.string(),
  nearest: z.number(),
});
const candidateRow = z.object({
  transposed: z.number(),
  start: z.array(z.number()),
  coarse_score: z.number(),
  score: z.number(),
  window: z.array(z.number()),
});
const detailedRow = searchRow.extend({
  candidates: z.array(candidateRow),
  pattern: z.tuple([z.number(), z.number()]).optional(),
  transposed: z.number().optional(),
});
const Vectors = z.object({
  pixels: z.object({
    luma: z.array(z.array(z.number())),
    alpha: z.array(z.array(z.number())),
    grey16: z.array(z.array(z.number())),
    reduced: z.array(z.array(z.number())),
    exif_stored: z.array(z.array(z.number())),
    exif: z.array(z.object({ orientation: z.number(), shown: z.array(z.array(z.number())) })),
  }),
  buckets: z.object({ sha256: z.string(), coarse_count: z.number(), coarse_buckets: z.array(z.number()) }),
  cosines: z.object({ base: z.array(z.string()), table_sha256: z.string(), coarse_table_sha256: z.string() }),
  field: z.object({ exp_table_u16le_sha256: z.string() }),
  bch: z.object({
    generator: z.string(),
    word: z.string(),
    syndrome: z.string(),
    patterns: z.array(
      z.object({
        name: z.string(),
        weight: z.number(),
        positions: z.array(z.number()),
        difference: z.string(),
        decodes: z.boolean(),
      }),
    ),
    random_differences_that_must_not_decode: z.array(z.string()),
  }),
  pictures: z.array(
    z.object({
      name: z.string(),
      width: z.number(),
      height: z.number(),
      rgb_sha256: z.string(),
      luma_sha256: z.string(),
      f: z.number(),
      reduced_size: z.tuple([z.number(), z.number()]),
      extent: z.tuple([z.number(), z.number()]),
      reduced_u16le_sha256: z.string(),
      sat_f64le_sha256: z.string(),
      grid_f64le_sha256: z.string(),
      coefficients_f64le_sha256: z.string(),
      beacon_of_itself: z.number(),
      choice: z.string(),
      secret_bits: z.string(),
      syndrome: z.string(),
      image_secret: z.string(),
      gate: gateRow,
    }),
  ),
  gate_generated: z.array(gateRow.extend({ name: z.string(), rgb_sha256: z.string() })),
  transformations: z.array(
    searchRow.extend({ photo: z.string(), transformation: z.string(), within_limits: z.boolean() }),
  ),
  orientations: z.array(detailedRow.extend({ photo: z.string(), orientation: z.string() })),
  stored: z.array(detailedRow.extend({ file: z.string(), enrolled: z.string(), rgb_sha256: z.string() })),
  strangers: z.array(searchRow.extend({ enrolled: z.string(), shown: z.string() })),
  gate_enlarged: z.array(
    gateRow.extend({
      name: z.string(),
      enlarged: z.number(),
      rgb_sha256: z.string(),
      self_test_ok: z.boolean(),
      self_test: z.array(z.object({ change: z.string(), errors: z.number().nullable() })),
    }),
  ),
});

const resolvePath = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export type VectorFile = z.infer<typeof Vectors>;
export const vectors = Vectors.parse(JSON.parse(readFileSync(resolvePath("../vectors/rie1.json"), "utf8")));
export const bucketVector = z
  .array(z.number())
  .parse(JSON.parse(readFileSync(resolvePath("../vectors/rie1-buckets.json"), "utf8")));

export const readVectorFile = (name: string) => readFileSync(resolvePath(`../vectors/${name}`));
/** rocket.jpg at half its size (or a corner of it), by Pillow and pillow-heif, in many kinds. */
export const readSample = (name: string) => readFileSync(resolvePath(`./pictures/${name}`));
/** Pictures of ./cases, made after public reports. */
export const readCase = (name: string) => readFileSync(resolvePath(`./cases/${name}`));
export const readPhoto = (name: string) => readFileSync(resolvePath(`../../../e2e/fixtures/photos/${name}`));

export const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
export const fromHex = (text: string) => new Uint8Array(Buffer.from(text, "hex"));
export const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

export interface PngOptions {
  readonly width: number;
  readonly height: number;
  /** 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGBA. */
  readonly colourType: number;
  readonly depth: number;
  /** Rows without filter bytes. */
  readonly data: Uint8Array;
  readonly chunks?: readonly (readonly [type: string, body: Uint8Array])[];
  /** In seven passes (Adam7); for pixels of whole bytes. */
  readonly interlaced?: boolean;
}

/** First column and row, and steps, of the passes (PNG, third edition, 8.1). */
const passes = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

function interlace(data: Uint8Array, width: number, height: number): Uint8Array {
  const size = data.length / (width * height);
  const rows: Uint8Array[] = [];
  for (const [left, top, columnStep, rowStep] of passes) {
    if (left >= width) continue;
    for (let y = top; y < height; y += rowStep) {
      const row = new Uint8Array(1 + Math.ceil((width - left) / columnStep) * size);
      for (let x = left, offset = 1; x < width; x += columnStep, offset += size)
        for (let i = 0; i < size; i++) row[offset + i] = data[(y * width + x) * size + i] ?? 0;
      rows.push(row);
    }
  }
  return Buffer.concat(rows);
}

/** A PNG file, unfiltered, compressed fast. */
export function makePng({
  width,
  height,
  colourType,
  depth,
  data,
  chunks = [],
  interlaced = false,
}: PngOptions): Uint8Array {
  const rowBytes = data.length / height;
  const raw = interlaced ? interlace(data, width, height) : new Uint8Array((rowBytes + 1) * height);
  if (!interlaced)
    for (let y = 0; y < height; y++) raw.set(data.subarray(y * rowBytes, (y + 1) * rowBytes), y * (rowBytes + 1) + 1);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([depth, colourType, 0, 0, interlaced ? 1 : 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    encodeChunk("IHDR", head),
    ...chunks.map(([type, body]) => encodeChunk(type, body)),
    encodeChunk("IDAT", deflateSync(raw, { level: 1 })),
    encodeChunk("IEND", new Uint8Array(0)),
  ]);
}

export const encodePng = ({ width, height, rgba }: Pixels): Uint8Array =>
  makePng({ width, height, colourType: 6, depth: 8, data: rgba });

function encodeChunk(type: string, body: Uint8Array): Buffer {
  const out = Buffer.alloc(12 + body.length);
  out.writeUInt32BE(body.length, 0);
  out.write(type, 4, "latin1");
  out.set(body, 8);
  out.writeUInt32BE(crc32(out.subarray(4, 8 + body.length)), 8 + body.length);
  return out;
}

export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

/** A TIFF structure with only the orientation, in either byte order. */
export function makeExif(orientation: number, littleEndian = true): Uint8Array {
  const view = new DataView(new ArrayBuffer(26));
  view.setUint16(0, littleEndian ? 0x4949 : 0x4d4d);
  view.setUint16(2, 42, littleEndian);
  view.setUint32(4, 8, littleEndian);
  view.setUint16(8, 1, littleEndian);
  view.setUint16(10, 0x0112, littleEndian);
  view.setUint16(12, 3, littleEndian);
  view.setUint32(14, 1, littleEndian);
  view.setUint16(18, orientation, littleEndian);
  return new Uint8Array(view.buffer);
}
