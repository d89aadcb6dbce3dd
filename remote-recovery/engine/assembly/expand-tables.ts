import {
  BUCKET_COUNT,
  BUCKET_INDEX,
  CELLS,
  COARSE_BUCKETS,
  COARSE_CELLS,
  COARSE_DCT,
  COARSE_DCT_TRANSPOSED,
  COARSE_INDEX,
  COARSE_ROWS,
  COARSE_TRANSPOSED_INDEX,
  DCT,
  DCT_TRANSPOSED,
  EVEN_DCT,
  EVEN_DCT_TRANSPOSED,
  EXP,
  FOLDED_INDEX,
  FOLDED_TRANSPOSED_INDEX,
  HALF_CELLS,
  HALF_ROWS,
  LOG,
  ODD_DCT,
  ODD_DCT_TRANSPOSED,
  ROWS,
  TRANSPOSED_INDEX,
} from "./memory";
import { BUCKETS, COARSE_COSINES, COSINES, POWERS } from "./tables";

/** Expands the literal tables. Runs once, when the module starts. */
export function expandTables(): void {
  expandDct(DCT, DCT_TRANSPOSED, COSINES, ROWS, CELLS);
  expandDct(COARSE_DCT, COARSE_DCT_TRANSPOSED, COARSE_COSINES, COARSE_ROWS, COARSE_CELLS);
  halveDct(0, EVEN_DCT, EVEN_DCT_TRANSPOSED);
  halveDct(1, ODD_DCT, ODD_DCT_TRANSPOSED);

  for (let i = 0; i < 2047; i++) {
    const power = load<u16>(POWERS + ((<usize>i) << 1));
    store<u16>(EXP + ((<usize>i) << 1), power);
    store<u16>(EXP + ((<usize>(i + 2047)) << 1), power);
    store<u16>(LOG + ((<usize>power) << 1), <u16>i);
  }

  let coarseCount = 0;
  for (let i = 0; i < BUCKET_COUNT; i++) {
    let highest: i32 = 0;
    for (let member = 0; member < 2; member++) {
      const address = BUCKETS + ((<usize>i) << 2) + ((<usize>member) << 1);
      const v = <i32>load<u8>(address);
      const u = <i32>load<u8>(address, 1);
      highest = max(highest, max(u, v));
      const slot = ((<usize>i) << 2) + ((<usize>member) << 1);
      store<u16>(BUCKET_INDEX + slot, <u16>(v * ROWS + u));
      store<u16>(TRANSPOSED_INDEX + slot, <u16>(u * ROWS + v));
      store<u16>(FOLDED_INDEX + slot, foldedIndex(v, u));
      store<u16>(FOLDED_TRANSPOSED_INDEX + slot, foldedIndex(u, v));
    }
    if (highest < COARSE_ROWS && coarseCount < 206) {
      store<u16>(COARSE_BUCKETS + ((<usize>coarseCount) << 1), <u16>i);
      for (let member: usize = 0; member < 4; member += 2) {
        const address = BUCKETS + ((<usize>i) << 2) + member;
        const v = <i32>load<u8>(address);
        const u = <i32>load<u8>(address, 1);
        store<u16>(COARSE_INDEX + ((<usize>coarseCount) << 2) + member, <u16>(v * COARSE_ROWS + u));
        store<u16>(COARSE_TRANSPOSED_INDEX + ((<usize>coarseCount) << 2) + member, <u16>(u * COARSE_ROWS + v));
      }
      coarseCount++;
    }
  }
}

/** Rows `parity`, `parity` + 2, … of DCT, the left half of each, and the same transposed. */
function halveDct(parity: i32, table: usize, transposed: usize): void {
  for (let k = 0; k < HALF_ROWS; k++) {
    for (let i = 0; i < HALF_CELLS; i++) {
      const value = load<f64>(DCT + ((<usize>((2 * k + parity) * CELLS + i)) << 3));
      store<f64>(table + ((<usize>(k * HALF_CELLS + i)) << 3), value);
      store<f64>(transposed + ((<usize>(i * HALF_ROWS + k)) << 3), value);
    }
  }
}

/** Folded coefficients lie in four blocks: row even or odd, then column even or odd. */
function foldedIndex(v: i32, u: i32): u16 {
  return <u16>(((v & 1) * 2 + (u & 1)) * HALF_ROWS * HALF_ROWS + (v >> 1) * HALF_ROWS + (u >> 1));
}

/** cos(πk(2i+1)/2n)·√(2/n) by symmetry from cos(πj/2n), j = 0 … n/2; row 0 is √(1/n). */
function expandDct(table: usize, transposed: usize, cosines: usize, rows: i32, n: i32): void {
  const half = 2 * n;
  for (let k = 0; k < rows; k++) {
    const scale = Math.sqrt((k == 0 ? 1.0 : 2.0) / <f64>n);
    for (let i = 0; i < n; i++) {
      let m = (k * (2 * i + 1)) % (2 * half);
      m = min(m, 2 * half - m); // cos(2π − a) = cos a
      const cosine = m <= n ? load<f64>(cosines + ((<usize>m) << 3)) : -load<f64>(cosines + ((<usize>(half - m)) << 3));
      const value = cosine * scale;
      store<f64>(table + ((<usize>(k * n + i)) << 3), value);
      store<f64>(transposed + ((<usize>(i * rows + k)) << 3), value);
    }
  }
}
