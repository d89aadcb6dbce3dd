/**
 * Resizes like Pillow resizes 8-bit pictures, because the reference's self-test uses Pillow:
 * separable filters, widened to the scale, with weights of 22 fractional bits, rounded to bytes
 * after each direction.
 */
import type { Raster } from "../picture-rows.ts";

const { abs, ceil, max, min, sin, trunc } = Math; // local copies, because these functions run millions of times

export const ResampleFilter = { bilinear: "bilinear", lanczos: "lanczos" } as const;
export type ResampleFilter = (typeof ResampleFilter)[keyof typeof ResampleFilter];

const fractionBits = 22;

/** Resizes to `width` × `height`. Blends alpha on white; the result is opaque. */
export function resample(source: Raster, width: number, height: number, filter: ResampleFilter): Raster {
  const horizontal = computeWeights(source.width, width, filter);
  const vertical = computeWeights(source.height, height, filter);
  const resampledRows = new Uint8Array(width * 3 * vertical.maxCount); // source rows that one result row needs
  const sourceRow = new Uint8Array(source.width * 3);
  const rgba = new Uint8Array(width * height * 4).fill(255);
  const sums = new Int32Array(width * 3);
  let nextRow = 0;
  for (let y = 0; y < height; y++) {
    const start = vertical.starts[y] ?? 0;
    const count = vertical.counts[y] ?? 0;
    for (nextRow = max(nextRow, start); nextRow < start + count; nextRow++) {
      blendOnWhite(source.rgba, nextRow * source.width * 4, sourceRow);
      resampleRow(sourceRow, horizontal, resampledRows, (nextRow % vertical.maxCount) * width * 3);
    }
    sums.fill(1 << (fractionBits - 1));
    for (let k = 0; k < count; k++) {
      const weight = vertical.weights[y * vertical.maxCount + k] ?? 0;
      const offset = ((start + k) % vertical.maxCount) * width * 3;
      for (let i = 0; i < sums.length; i++) sums[i] = (sums[i] ?? 0) + (resampledRows[offset + i] ?? 0) * weight;
    }
    for (let x = 0, i = 0, offset = y * width * 4; x < width; x++, offset += 4) {
      rgba[offset] = clamp(sums[i++] ?? 0);
      rgba[offset + 1] = clamp(sums[i++] ?? 0);
      rgba[offset + 2] = clamp(sums[i++] ?? 0);
    }
  }
  resampledRows.fill(0);
  sourceRow.fill(0);
  sums.fill(0);
  return { width, height, orientation: source.orientation, rgba };
}

interface Weights {
  readonly maxCount: number;
  readonly starts: Int32Array;
  readonly counts: Int32Array;
  readonly weights: Int32Array;
}

function computeWeights(sourceSize: number, targetSize: number, filter: ResampleFilter): Weights {
  const scale = sourceSize / targetSize;
  const stretch = max(1, scale);
  const support = (filter === ResampleFilter.lanczos ? 3 : 1) * stretch;
  const maxCount = ceil(support) * 2 + 1;
  const starts = new Int32Array(targetSize);
  const counts = new Int32Array(targetSize);
  const weights = new Int32Array(targetSize * maxCount);
  for (let x = 0; x < targetSize; x++) {
    const centre = (x + 0.5) * scale;
    const start = max(0, trunc(centre - support + 0.5));
    const size = min(sourceSize, trunc(centre + support + 0.5)) - start;
    const values = Array.from({ length: size }, (_, i) => evaluateKernel(filter, (i + start - centre + 0.5) / stretch));
    const sum = values.reduce((total, value) => total + value, 0);
    starts[x] = start;
    counts[x] = size;
    values.forEach((value, i) => {
      const scaled = (sum === 0 ? value : value / sum) * (1 << fractionBits);
      weights[x * maxCount + i] = trunc(scaled + (scaled < 0 ? -0.5 : 0.5));
    });
  }
  return { maxCount, starts, counts, weights };
}

function evaluateKernel(filter: ResampleFilter, x: number): number {
  const distance = abs(x);
  if (filter === ResampleFilter.bilinear) return distance < 1 ? 1 - distance : 0;
  return distance < 3 ? sinc(x) * sinc(x / 3) : 0;
}

const sinc = (x: number) => (x === 0 ? 1 : sin(x * Math.PI) / (x * Math.PI));

function resampleRow(
  sourceRow: Uint8Array,
  { maxCount, starts, counts, weights }: Weights,
  out: Uint8Array,
  offset: number,
): void {
  for (let x = 0; x < starts.length; x++) {
    let r = 1 << (fractionBits - 1);
    let g = r;
    let b = r;
    let position = (starts[x] ?? 0) * 3;
    const end = x * maxCount + (counts[x] ?? 0);
    for (let k = x * maxCount; k < end; k++, position += 3) {
      const w = weights[k] ?? 0;
      r += (sourceRow[position] ?? 0) * w;
      g += (sourceRow[position + 1] ?? 0) * w;
      b += (sourceRow[position + 2] ?? 0) * w;
    }
    out[offset++] = clamp(r);
    out[offset++] = clamp(g);
    out[offset++] = clamp(b);
  }
}

function clamp(sum: number): number {
  const value = sum >> fractionBits;
  return value < 0 ? 0 : value > 255 ? 255 : value;
}

/** Blends a row of RGBA on white, as RGB. */
function blendOnWhite(rgba: Uint8Array, start: number, out: Uint8Array): void {
  for (let i = 0, offset = start; i < out.length; i += 3, offset += 4) {
    const alpha = rgba[offset + 3] ?? 255;
    if (alpha === 255) {
      out[i] = rgba[offset] ?? 0;
      out[i + 1] = rgba[offset + 1] ?? 0;
      out[i + 2] = rgba[offset + 2] ?? 0;
    } else {
      const white = 255 * (255 - alpha) + 127;
      for (let c = 0; c < 3; c++) out[i + c] = trunc(((rgba[offset + c] ?? 0) * alpha + white) / 255);
    }
  }
}
