/**
 * Simulates JPEG at quality 50 with 4:2:0 on pixels. Converts to YCbCr, halves chroma, transforms
 * blocks of 8 × 8, divides by the tables of annex K, which are those of quality 50, rounds, and
 * reverses all steps. Omits entropy coding, which is lossless.
 */
import type { Raster } from "../picture-rows.ts";

const { ceil, max, min, round } = Math; // local copies, because these functions run millions of times

// ISO/IEC 10918-1, tables K.1 and K.2.
const lumaQuantisationTable = [
  16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51,
  87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101,
  72, 92, 95, 98, 112, 100, 103, 99,
];
const chromaQuantisationTable = [
  17,
  18,
  24,
  47,
  99,
  99,
  99,
  99,
  18,
  21,
  26,
  66,
  99,
  99,
  99,
  99,
  24,
  26,
  56,
  99,
  99,
  99,
  99,
  99,
  47,
  66,
  99,
  99,
  99,
  99,
  99,
  99,
  ...Array.from({ length: 32 }, () => 99),
];

/** Orthonormal 8-point DCT-II: row k, column i. */
const dctMatrix = Float64Array.from({ length: 64 }, (_, index) => {
  const k = index >> 3;
  return Math.cos((Math.PI * k * (2 * (index & 7) + 1)) / 16) * Math.sqrt((k === 0 ? 1 : 2) / 8);
});

/** Applies JPEG 50 to a picture of opaque pixels. */
export function simulateJpeg50({ width, height, orientation, rgba }: Raster): Raster {
  const luma = createPlane(width, height);
  const blueChroma = createPlane(ceil(width / 2), ceil(height / 2));
  const redChroma = createPlane(blueChroma.width, blueChroma.height);
  splitIntoPlanes(rgba, width, height, luma, blueChroma, redChroma);
  quantisePlane(luma, lumaQuantisationTable);
  quantisePlane(blueChroma, chromaQuantisationTable);
  quantisePlane(redChroma, chromaQuantisationTable);
  const out = mergePlanes(width, height, luma, blueChroma, redChroma);
  for (const { values } of [luma, blueChroma, redChroma]) values.fill(0);
  return { width, height, orientation, rgba: out };
}

/** Samples in whole blocks of 8 × 8; the last row and column are repeated to fill the blocks. */
interface Plane {
  readonly width: number;
  readonly height: number;
  readonly stride: number;
  readonly rows: number;
  readonly values: Uint8Array;
}

function createPlane(width: number, height: number): Plane {
  const stride = ceil(width / 8) * 8;
  const rows = ceil(height / 8) * 8;
  return { width, height, stride, rows, values: new Uint8Array(stride * rows) };
}

function splitIntoPlanes(
  rgba: Uint8Array,
  width: number,
  height: number,
  luma: Plane,
  blueChroma: Plane,
  redChroma: Plane,
): void {
  const blueSums = new Float64Array(blueChroma.width * blueChroma.height);
  const redSums = new Float64Array(blueChroma.width * blueChroma.height);
  for (let y = 0; y < blueChroma.height * 2; y++) {
    for (let x = 0; x < blueChroma.width * 2; x++) {
      const offset = (min(y, height - 1) * width + min(x, width - 1)) * 4;
      const r = rgba[offset] ?? 0;
      const g = rgba[offset + 1] ?? 0;
      const b = rgba[offset + 2] ?? 0;
      if (y < height && x < width) luma.values[y * luma.stride + x] = round(0.299 * r + 0.587 * g + 0.114 * b);
      const chromaIndex = (y >> 1) * blueChroma.width + (x >> 1);
      blueSums[chromaIndex] = (blueSums[chromaIndex] ?? 0) + round(128 - 0.168736 * r - 0.331264 * g + 0.5 * b);
      redSums[chromaIndex] = (redSums[chromaIndex] ?? 0) + round(128 + 0.5 * r - 0.418688 * g - 0.081312 * b);
    }
  }
  for (let y = 0; y < blueChroma.height; y++) {
    for (let x = 0; x < blueChroma.width; x++) {
      blueChroma.values[y * blueChroma.stride + x] = min(255, round((blueSums[y * blueChroma.width + x] ?? 0) / 4));
      redChroma.values[y * redChroma.stride + x] = min(255, round((redSums[y * blueChroma.width + x] ?? 0) / 4));
    }
  }
  for (const plane of [luma, blueChroma, redChroma]) repeatEdges(plane);
  blueSums.fill(0);
  redSums.fill(0);
}

function repeatEdges({ width, height, stride, rows, values }: Plane): void {
  for (let y = 0; y < height; y++)
    values.fill(values[y * stride + width - 1] ?? 0, y * stride + width, (y + 1) * stride);
  for (let y = height; y < rows; y++) values.copyWithin(y * stride, (height - 1) * stride, height * stride);
}

/**
 * Transforms each block, rounds its coefficients to multiples of the steps, and transforms the
 * block back.
 */
function quantisePlane({ stride, rows, values }: Plane, steps: readonly number[]): void {
  const block = new Float64Array(64);
  const intermediate = new Float64Array(64);
  for (let top = 0; top < rows; top += 8) {
    for (let left = 0; left < stride; left += 8) {
      for (let i = 0; i < 64; i++) block[i] = (values[(top + (i >> 3)) * stride + left + (i & 7)] ?? 0) - 128;
      transform(block, intermediate, false);
      for (let i = 0; i < 64; i++) {
        const step = steps[i] ?? 1;
        block[i] = round((block[i] ?? 0) / step) * step;
      }
      transform(block, intermediate, true);
      for (let i = 0; i < 64; i++)
        values[(top + (i >> 3)) * stride + left + (i & 7)] = clamp(round((block[i] ?? 0) + 128));
    }
  }
  block.fill(0);
  intermediate.fill(0);
}

/** block ← D·block·Dᵀ, or Dᵀ·block·D when `inverse`. */
function transform(block: Float64Array, intermediate: Float64Array, inverse: boolean): void {
  const coefficient = (k: number, i: number) => dctMatrix[inverse ? i * 8 + k : k * 8 + i] ?? 0;
  for (let k = 0; k < 8; k++) {
    for (let x = 0; x < 8; x++) {
      let sum = 0;
      for (let i = 0; i < 8; i++) sum += coefficient(k, i) * (block[i * 8 + x] ?? 0);
      intermediate[k * 8 + x] = sum;
    }
  }
  for (let k = 0; k < 8; k++) {
    for (let x = 0; x < 8; x++) {
      let sum = 0;
      for (let i = 0; i < 8; i++) sum += (intermediate[k * 8 + i] ?? 0) * coefficient(x, i);
      block[k * 8 + x] = sum;
    }
  }
}

/**
 * Converts back to colours. Enlarges chroma with the triangle filter that decoders use: ¾ of the
 * nearer sample, ¼ of the other.
 */
function mergePlanes(width: number, height: number, luma: Plane, blueChroma: Plane, redChroma: Plane): Uint8Array {
  const rgba = new Uint8Array(width * height * 4).fill(255);
  const interpolateChroma = ({ width: columns, height: lines, stride, values }: Plane, x: number, y: number) => {
    const nearX = x >> 1;
    const nearY = y >> 1;
    const farX = min(columns - 1, max(0, x & 1 ? nearX + 1 : nearX - 1));
    const farY = min(lines - 1, max(0, y & 1 ? nearY + 1 : nearY - 1));
    const row = (line: number) => 3 * (values[line * stride + nearX] ?? 0) + (values[line * stride + farX] ?? 0);
    return (3 * row(nearY) + row(farY)) / 16 - 128;
  };
  for (let y = 0, offset = 0; y < height; y++) {
    for (let x = 0; x < width; x++, offset += 4) {
      const l = luma.values[y * luma.stride + x] ?? 0;
      const b = interpolateChroma(blueChroma, x, y);
      const r = interpolateChroma(redChroma, x, y);
      rgba[offset] = clamp(round(l + 1.402 * r));
      rgba[offset + 1] = clamp(round(l - 0.344136 * b - 0.714136 * r));
      rgba[offset + 2] = clamp(round(l + 1.772 * b));
    }
  }
  return rgba;
}

function clamp(value: number): number {
  return value < 0 ? 0 : value > 255 ? 255 : value;
}
