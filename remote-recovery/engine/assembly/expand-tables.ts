import {
  BUCKET_COUNT,
  COEFFICIENT_INDICES,
  GRID_SIZE,
  COARSE_BUCKET_NUMBERS,
  COARSE_GRID_SIZE,
  COARSE_DCT,
  COARSE_DCT_TRANSPOSED,
  COARSE_COEFFICIENT_INDICES,
  COARSE_FREQUENCY_COUNT,
  COARSE_TRANSPOSED_COEFFICIENT_INDICES,
  DCT,
  DCT_TRANSPOSED,
  EVEN_DCT,
  EVEN_DCT_TRANSPOSED,
  GF_EXP,
  FOLDED_COEFFICIENT_INDICES,
  FOLDED_TRANSPOSED_COEFFICIENT_INDICES,
  HALF_GRID_SIZE,
  HALF_FREQUENCY_COUNT,
  GF_LOG,
  ODD_DCT,
  ODD_DCT_TRANSPOSED,
  FREQUENCY_COUNT,
  TRANSPOSED_COEFFICIENT_INDICES,
} from "./memory";
import { BUCKET_POSITIONS, COARSE_COSINES, COSINES, ALPHA_POWERS } from "./tables";

/** Expands the literal tables. Runs once, when the module starts. */
export function expandTables(): void {
  expandDct(DCT, DCT_TRANSPOSED, COSINES, FREQUENCY_COUNT, GRID_SIZE);
  expandDct(COARSE_DCT, COARSE_DCT_TRANSPOSED, COARSE_COSINES, COARSE_FREQUENCY_COUNT, COARSE_GRID_SIZE);
  extractParityDct(0, EVEN_DCT, EVEN_DCT_TRANSPOSED);
  extractParityDct(1, ODD_DCT, ODD_DCT_TRANSPOSED);

  for (let i = 0; i < 2047; i++) {
    const power = load<u16>(ALPHA_POWERS + ((<usize>i) << 1));
    store<u16>(GF_EXP + ((<usize>i) << 1), power);
    store<u16>(GF_EXP + ((<usize>(i + 2047)) << 1), power);
    store<u16>(GF_LOG + ((<usize>power) << 1), <u16>i);
  }

  let coarseCount = 0;
  for (let i = 0; i < BUCKET_COUNT; i++) {
    let maxFrequency: i32 = 0;
    for (let member = 0; member < 2; member++) {
      const address = BUCKET_POSITIONS + ((<usize>i) << 2) + ((<usize>member) << 1);
      const v = <i32>load<u8>(address);
      const u = <i32>load<u8>(address, 1);
      maxFrequency = max(maxFrequency, max(u, v));
      const entryOffset = ((<usize>i) << 2) + ((<usize>member) << 1);
      store<u16>(COEFFICIENT_INDICES + entryOffset, <u16>(v * FREQUENCY_COUNT + u));
      store<u16>(TRANSPOSED_COEFFICIENT_INDICES + entryOffset, <u16>(u * FREQUENCY_COUNT + v));
      store<u16>(FOLDED_COEFFICIENT_INDICES + entryOffset, computeFoldedIndex(v, u));
      store<u16>(FOLDED_TRANSPOSED_COEFFICIENT_INDICES + entryOffset, computeFoldedIndex(u, v));
    }
    if (maxFrequency < COARSE_FREQUENCY_COUNT && coarseCount < 206) {
      store<u16>(COARSE_BUCKET_NUMBERS + ((<usize>coarseCount) << 1), <u16>i);
      for (let memberOffset: usize = 0; memberOffset < 4; memberOffset += 2) {
        const address = BUCKET_POSITIONS + ((<usize>i) << 2) + memberOffset;
        const v = <i32>load<u8>(address);
        const u = <i32>load<u8>(address, 1);
        store<u16>(
          COARSE_COEFFICIENT_INDICES + ((<usize>coarseCount) << 2) + memberOffset,
          <u16>(v * COARSE_FREQUENCY_COUNT + u),
        );
        store<u16>(
          COARSE_TRANSPOSED_COEFFICIENT_INDICES + ((<usize>coarseCount) << 2) + memberOffset,
          <u16>(u * COARSE_FREQUENCY_COUNT + v),
        );
      }
      coarseCount++;
    }
  }
}

/**
 * Copies the left half of rows `parity`, `parity` + 2, … of DCT, and writes the transposed copy.
 */
function extractParityDct(parity: i32, table: usize, transposed: usize): void {
  for (let k = 0; k < HALF_FREQUENCY_COUNT; k++) {
    for (let i = 0; i < HALF_GRID_SIZE; i++) {
      const value = load<f64>(DCT + ((<usize>((2 * k + parity) * GRID_SIZE + i)) << 3));
      store<f64>(table + ((<usize>(k * HALF_GRID_SIZE + i)) << 3), value);
      store<f64>(transposed + ((<usize>(i * HALF_FREQUENCY_COUNT + k)) << 3), value);
    }
  }
}

/**
 * Index of a folded coefficient. There are four blocks: row even or odd, then column even or odd.
 */
function computeFoldedIndex(v: i32, u: i32): u16 {
  return <u16>(
    (((v & 1) * 2 + (u & 1)) * HALF_FREQUENCY_COUNT * HALF_FREQUENCY_COUNT + (v >> 1) * HALF_FREQUENCY_COUNT + (u >> 1))
  );
}

/** Computes cos(πk(2i+1)/2n)·√(2/n) from cos(πj/2n), j = 0 … n/2, by symmetry. Row 0 is √(1/n). */
function expandDct(table: usize, transposed: usize, cosines: usize, rows: i32, n: i32): void {
  const halfPeriod = 2 * n;
  for (let k = 0; k < rows; k++) {
    const scale = Math.sqrt((k == 0 ? 1.0 : 2.0) / <f64>n);
    for (let i = 0; i < n; i++) {
      let angleIndex = (k * (2 * i + 1)) % (2 * halfPeriod);
      angleIndex = min(angleIndex, 2 * halfPeriod - angleIndex); // cos(2π − a) = cos a
      const cosine =
        angleIndex <= n
          ? load<f64>(cosines + ((<usize>angleIndex) << 3))
          : -load<f64>(cosines + ((<usize>(halfPeriod - angleIndex)) << 3));
      const value = cosine * scale;
      store<f64>(table + ((<usize>(k * n + i)) << 3), value);
      store<f64>(transposed + ((<usize>(i * rows + k)) << 3), value);
    }
  }
}
