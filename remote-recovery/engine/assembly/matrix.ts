/**
 * out[m × p] = a[m × n] · b[n × p], row by row, in float64; m and p are multiples of 4. Each sum
 * starts at 0.0 and adds its terms by ascending index, with one rounding per operation. SIMD lanes
 * hold different sums, so SIMD and scalar builds give the same bits.
 */
export function multiplyMatrices(a: usize, m: i32, n: i32, b: usize, p: i32, out: usize): void {
  const aStride = (<usize>n) << 3;
  const bStride = (<usize>p) << 3;
  if (ASC_FEATURE_SIMD) {
    for (let row = 0; row < m; row += 4) {
      const a0 = a + <usize>row * aStride;
      const out0 = out + <usize>row * bStride;
      for (let column: usize = 0; column < bStride; column += 32) {
        let s00 = f64x2.splat(0),
          s01 = f64x2.splat(0);
        let s10 = f64x2.splat(0),
          s11 = f64x2.splat(0);
        let s20 = f64x2.splat(0),
          s21 = f64x2.splat(0);
        let s30 = f64x2.splat(0),
          s31 = f64x2.splat(0);
        let aPointer = a0;
        let bPointer = b + column;
        const end = a0 + aStride;
        while (aPointer < end) {
          const b0 = v128.load(bPointer);
          const b1 = v128.load(bPointer, 16);
          let f = v128.load_splat<f64>(aPointer);
          s00 = f64x2.add(s00, f64x2.mul(f, b0));
          s01 = f64x2.add(s01, f64x2.mul(f, b1));
          f = v128.load_splat<f64>(aPointer + aStride);
          s10 = f64x2.add(s10, f64x2.mul(f, b0));
          s11 = f64x2.add(s11, f64x2.mul(f, b1));
          f = v128.load_splat<f64>(aPointer + 2 * aStride);
          s20 = f64x2.add(s20, f64x2.mul(f, b0));
          s21 = f64x2.add(s21, f64x2.mul(f, b1));
          f = v128.load_splat<f64>(aPointer + 3 * aStride);
          s30 = f64x2.add(s30, f64x2.mul(f, b0));
          s31 = f64x2.add(s31, f64x2.mul(f, b1));
          aPointer += 8;
          bPointer += bStride;
        }
        let outPointer = out0 + column;
        v128.store(outPointer, s00);
        v128.store(outPointer, s01, 16);
        outPointer += bStride;
        v128.store(outPointer, s10);
        v128.store(outPointer, s11, 16);
        outPointer += bStride;
        v128.store(outPointer, s20);
        v128.store(outPointer, s21, 16);
        outPointer += bStride;
        v128.store(outPointer, s30);
        v128.store(outPointer, s31, 16);
      }
    }
  } else {
    for (let row = 0; row < m; row += 2) {
      const a0 = a + <usize>row * aStride;
      const out0 = out + <usize>row * bStride;
      for (let column: usize = 0; column < bStride; column += 32) {
        let s00 = 0.0,
          s01 = 0.0,
          s02 = 0.0,
          s03 = 0.0;
        let s10 = 0.0,
          s11 = 0.0,
          s12 = 0.0,
          s13 = 0.0;
        let aPointer = a0;
        let bPointer = b + column;
        const end = a0 + aStride;
        while (aPointer < end) {
          const b0 = load<f64>(bPointer);
          const b1 = load<f64>(bPointer, 8);
          const b2 = load<f64>(bPointer, 16);
          const b3 = load<f64>(bPointer, 24);
          let f = load<f64>(aPointer);
          s00 += f * b0;
          s01 += f * b1;
          s02 += f * b2;
          s03 += f * b3;
          f = load<f64>(aPointer + aStride);
          s10 += f * b0;
          s11 += f * b1;
          s12 += f * b2;
          s13 += f * b3;
          aPointer += 8;
          bPointer += bStride;
        }
        let outPointer = out0 + column;
        store<f64>(outPointer, s00);
        store<f64>(outPointer, s01, 8);
        store<f64>(outPointer, s02, 16);
        store<f64>(outPointer, s03, 24);
        outPointer += bStride;
        store<f64>(outPointer, s10);
        store<f64>(outPointer, s11, 8);
        store<f64>(outPointer, s12, 16);
        store<f64>(outPointer, s13, 24);
      }
    }
  }
}
