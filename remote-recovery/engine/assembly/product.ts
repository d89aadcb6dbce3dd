/**
 * out[m × p] = a[m × n] · b[n × p], row by row, float64. Each sum starts from 0.0 and takes its
 * terms with ascending index, one rounding per operation: lanes are different sums, so SIMD and
 * scalar give the same bits. m must be a multiple of 4 and p of 4.
 */
export function product(a: usize, m: i32, n: i32, b: usize, p: i32, out: usize): void {
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
        let at = a0;
        let from = b + column;
        const end = a0 + aStride;
        while (at < end) {
          const b0 = v128.load(from);
          const b1 = v128.load(from, 16);
          let f = v128.load_splat<f64>(at);
          s00 = f64x2.add(s00, f64x2.mul(f, b0));
          s01 = f64x2.add(s01, f64x2.mul(f, b1));
          f = v128.load_splat<f64>(at + aStride);
          s10 = f64x2.add(s10, f64x2.mul(f, b0));
          s11 = f64x2.add(s11, f64x2.mul(f, b1));
          f = v128.load_splat<f64>(at + 2 * aStride);
          s20 = f64x2.add(s20, f64x2.mul(f, b0));
          s21 = f64x2.add(s21, f64x2.mul(f, b1));
          f = v128.load_splat<f64>(at + 3 * aStride);
          s30 = f64x2.add(s30, f64x2.mul(f, b0));
          s31 = f64x2.add(s31, f64x2.mul(f, b1));
          at += 8;
          from += bStride;
        }
        let to = out0 + column;
        v128.store(to, s00);
        v128.store(to, s01, 16);
        to += bStride;
        v128.store(to, s10);
        v128.store(to, s11, 16);
        to += bStride;
        v128.store(to, s20);
        v128.store(to, s21, 16);
        to += bStride;
        v128.store(to, s30);
        v128.store(to, s31, 16);
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
        let at = a0;
        let from = b + column;
        const end = a0 + aStride;
        while (at < end) {
          const b0 = load<f64>(from);
          const b1 = load<f64>(from, 8);
          const b2 = load<f64>(from, 16);
          const b3 = load<f64>(from, 24);
          let f = load<f64>(at);
          s00 += f * b0;
          s01 += f * b1;
          s02 += f * b2;
          s03 += f * b3;
          f = load<f64>(at + aStride);
          s10 += f * b0;
          s11 += f * b1;
          s12 += f * b2;
          s13 += f * b3;
          at += 8;
          from += bStride;
        }
        let to = out0 + column;
        store<f64>(to, s00);
        store<f64>(to, s01, 8);
        store<f64>(to, s02, 16);
        store<f64>(to, s03, 24);
        to += bStride;
        store<f64>(to, s10);
        store<f64>(to, s11, 8);
        store<f64>(to, s12, 16);
        store<f64>(to, s13, 24);
      }
    }
  }
}
