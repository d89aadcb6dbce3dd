import {
  AT,
  BUCKET_COUNT,
  CELLS,
  COARSE_AT,
  COARSE_BUCKETS,
  COARSE_CELLS,
  COARSE_DCT,
  COARSE_DCT_ACROSS,
  COARSE_ROWS,
  COARSE_TRANSPOSED_AT,
  DCT,
  DCT_ACROSS,
  EVEN_DCT,
  EVEN_DCT_ACROSS,
  EXP,
  FOLDED_AT,
  FOLDED_TRANSPOSED_AT,
  HALF_CELLS,
  HALF_ROWS,
  LOG,
  ODD_DCT,
  ODD_DCT_ACROSS,
  ROWS,
  TRANSPOSED_AT,
} from "./memory";
import { BUCKETS, COARSE_COSINES, COSINES, POWERS } from "./tables";

/** Expands the literal tables. Runs once, when the module starts. */
export function expandTables(): void {
  expandDct(DCT, DCT_ACROSS, COSINES, ROWS, CELLS);
  expandDct(COARSE_DCT, COARSE_DCT_ACROSS, COARSE_COSINES, COARSE_ROWS, COARSE_CELLS);
  halveDct(0, EVEN_DCT, EVEN_DCT_ACROSS);
  halveDct(1, ODD_DCT, ODD_DCT_ACROSS);

  for (let i = 0; i < 2047; i++) {
    const power = load<u16>(POWERS + ((<usize>i) << 1));
    store<u16>(EXP + ((<usize>i) << 1), power);
    store<u16>(EXP + ((<usize>(i + 2047)) << 1), power);
    store<u16>(LOG + ((<usize>power) << 1), <u16>i);
  }

  let low = 0;
  for (let i = 0; i < BUCKET_COUNT; i++) {
    let highest: i32 = 0;
    for (let member = 0; member < 2; member++) {
      const place = BUCKETS + ((<usize>i) << 2) + ((<usize>member) << 1);
      const v = <i32>load<u8>(place);
      const u = <i32>load<u8>(place, 1);
      highest = max(highest, max(u, v));
      const slot = ((<usize>i) << 2) + ((<usize>member) << 1);
      store<u16>(AT + slot, <u16>(v * ROWS + u));
      store<u16>(TRANSPOSED_AT + slot, <u16>(u * ROWS + v));
      store<u16>(FOLDED_AT + slot, foldedPlace(v, u));
      store<u16>(FOLDED_TRANSPOSED_AT + slot, foldedPlace(u, v));
    }
    if (highest < COARSE_ROWS && low < 206) {
      store<u16>(COARSE_BUCKETS + ((<usize>low) << 1), <u16>i);
      for (let member: usize = 0; member < 4; member += 2) {
        const place = BUCKETS + ((<usize>i) << 2) + member;
        const v = <i32>load<u8>(place);
        const u = <i32>load<u8>(place, 1);
        store<u16>(COARSE_AT + ((<usize>low) << 2) + member, <u16>(v * COARSE_ROWS + u));
        store<u16>(COARSE_TRANSPOSED_AT + ((<usize>low) << 2) + member, <u16>(u * COARSE_ROWS + v));
      }
      low++;
    }
  }
}

/** Rows `parity`, `parity` + 2, … of DCT, the left half of each, and the same transposed. */
function halveDct(parity: i32, table: usize, across: usize): void {
  for (let k = 0; k < HALF_ROWS; k++) {
    for (let i = 0; i < HALF_CELLS; i++) {
      const value = load<f64>(DCT + ((<usize>((2 * k + parity) * CELLS + i)) << 3));
      store<f64>(table + ((<usize>(k * HALF_CELLS + i)) << 3), value);
      store<f64>(across + ((<usize>(i * HALF_ROWS + k)) << 3), value);
    }
  }
}

/** Folded coefficients lie in four blocks: row even or odd, then column even or odd. */
function foldedPlace(v: i32, u: i32): u16 {
  return <u16>(((v & 1) * 2 + (u & 1)) * HALF_ROWS * HALF_ROWS + (v >> 1) * HALF_ROWS + (u >> 1));
}

/** cos(πk(2i+1)/2n)·√(2/n) by symmetry from cos(πj/2n), j = 0 … n/2; row 0 is √(1/n). */
function expandDct(table: usize, across: usize, cosines: usize, rows: i32, n: i32): void {
  const half = 2 * n;
  for (let k = 0; k < rows; k++) {
    const scale = Math.sqrt((k == 0 ? 1.0 : 2.0) / <f64>n);
    for (let i = 0; i < n; i++) {
      let m = (k * (2 * i + 1)) % (2 * half);
      m = min(m, 2 * half - m); // cos(2π − a) = cos a
      const cosine = m <= n ? load<f64>(cosines + ((<usize>m) << 3)) : -load<f64>(cosines + ((<usize>(half - m)) << 3));
      const value = cosine * scale;
      store<f64>(table + ((<usize>(k * n + i)) << 3), value);
      store<f64>(across + ((<usize>(i * rows + k)) << 3), value);
    }
  }
}
