/**
 * Resizing as Pillow does it for 8-bit pictures: separable, widened filters, weights with 22
 * fractional bits, rounded to bytes after each direction. The reference's self-test uses it, so
 * ours does too.
 */
import type { Raster } from "../rows.ts";

const { abs, ceil, max, min, sin, trunc } = Math; // looked up once: these run millions of times

export const Filter = { bilinear: "bilinear", lanczos: "lanczos" } as const;
export type Filter = (typeof Filter)[keyof typeof Filter];

const fractionBits = 22;

/** Resizes to `width` × `height`. Alpha is put on white on the way; the result is opaque. */
export function resample(source: Raster, width: number, height: number, filter: Filter): Raster {
  const across = weights(source.width, width, filter);
  const down = weights(source.height, height, filter);
  const narrow = new Uint8Array(width * 3 * down.most); // the rows that one row of the result is made of
  const line = new Uint8Array(source.width * 3);
  const rgba = new Uint8Array(width * height * 4).fill(255);
  const sums = new Int32Array(width * 3);
  let next = 0;
  for (let y = 0; y < height; y++) {
    const first = down.first[y] ?? 0;
    const count = down.count[y] ?? 0;
    for (next = max(next, first); next < first + count; next++) {
      onWhite(source.rgba, next * source.width * 4, line);
      narrowRow(line, across, narrow, (next % down.most) * width * 3);
    }
    sums.fill(1 << (fractionBits - 1));
    for (let k = 0; k < count; k++) {
      const weight = down.weight[y * down.most + k] ?? 0;
      const from = ((first + k) % down.most) * width * 3;
      for (let i = 0; i < sums.length; i++) sums[i] = (sums[i] ?? 0) + (narrow[from + i] ?? 0) * weight;
    }
    for (let x = 0, i = 0, to = y * width * 4; x < width; x++, to += 4) {
      rgba[to] = clamp(sums[i++] ?? 0);
      rgba[to + 1] = clamp(sums[i++] ?? 0);
      rgba[to + 2] = clamp(sums[i++] ?? 0);
    }
  }
  narrow.fill(0);
  line.fill(0);
  sums.fill(0);
  return { width, height, orientation: source.orientation, rgba };
}

interface Weights {
  readonly most: number;
  readonly first: Int32Array;
  readonly count: Int32Array;
  readonly weight: Int32Array;
}

function weights(from: number, to: number, filter: Filter): Weights {
  const scale = from / to;
  const stretch = max(1, scale);
  const support = (filter === Filter.lanczos ? 3 : 1) * stretch;
  const most = ceil(support) * 2 + 1;
  const first = new Int32Array(to);
  const count = new Int32Array(to);
  const weight = new Int32Array(to * most);
  for (let x = 0; x < to; x++) {
    const centre = (x + 0.5) * scale;
    const start = max(0, trunc(centre - support + 0.5));
    const size = min(from, trunc(centre + support + 0.5)) - start;
    const values = Array.from({ length: size }, (_, i) => shape(filter, (i + start - centre + 0.5) / stretch));
    const sum = values.reduce((total, value) => total + value, 0);
    first[x] = start;
    count[x] = size;
    values.forEach((value, i) => {
      const share = (sum === 0 ? value : value / sum) * (1 << fractionBits);
      weight[x * most + i] = trunc(share + (share < 0 ? -0.5 : 0.5));
    });
  }
  return { most, first, count, weight };
}

function shape(filter: Filter, x: number): number {
  const distance = abs(x);
  if (filter === Filter.bilinear) return distance < 1 ? 1 - distance : 0;
  return distance < 3 ? sinc(x) * sinc(x / 3) : 0;
}

const sinc = (x: number) => (x === 0 ? 1 : sin(x * Math.PI) / (x * Math.PI));

function narrowRow(line: Uint8Array, { most, first, count, weight }: Weights, out: Uint8Array, at: number): void {
  for (let x = 0; x < first.length; x++) {
    let r = 1 << (fractionBits - 1);
    let g = r;
    let b = r;
    let from = (first[x] ?? 0) * 3;
    const end = x * most + (count[x] ?? 0);
    for (let k = x * most; k < end; k++, from += 3) {
      const w = weight[k] ?? 0;
      r += (line[from] ?? 0) * w;
      g += (line[from + 1] ?? 0) * w;
      b += (line[from + 2] ?? 0) * w;
    }
    out[at++] = clamp(r);
    out[at++] = clamp(g);
    out[at++] = clamp(b);
  }
}

function clamp(sum: number): number {
  const value = sum >> fractionBits;
  return value < 0 ? 0 : value > 255 ? 255 : value;
}

/** One row of RGBA as RGB on white. */
function onWhite(rgba: Uint8Array, from: number, out: Uint8Array): void {
  for (let i = 0, at = from; i < out.length; i += 3, at += 4) {
    const alpha = rgba[at + 3] ?? 255;
    if (alpha === 255) {
      out[i] = rgba[at] ?? 0;
      out[i + 1] = rgba[at + 1] ?? 0;
      out[i + 2] = rgba[at + 2] ?? 0;
    } else {
      const white = 255 * (255 - alpha) + 127;
      for (let c = 0; c < 3; c++) out[i + c] = trunc(((rgba[at + c] ?? 0) * alpha + white) / 255);
    }
  }
}
