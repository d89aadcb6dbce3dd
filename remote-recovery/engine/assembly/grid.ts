import { CELLS, COEFFICIENTS, CORNERS, DCT, DCT_ACROSS, GRID, HALF, ROWS, X_PART, X_SIZE, X_WHOLE, Y_PART, Y_SIZE, Y_WHOLE } from "./memory";
import { extentX, extentY, sat, satColumns, satRows } from "./picture";
import { product } from "./product";

/** Window sides farther out than this are refused: no search leaves the picture so far. */
const FARTHEST: f64 = 4.0;

/** True when a picture is there and the sides are numbers not too far from it. */
export function windowAllowed(x0: f64, x1: f64, y0: f64, y1: f64): bool {
  // Comparisons with NaN are false, so NaN is refused too.
  return sat != 0 && abs(x0) < FARTHEST && abs(x1) < FARTHEST && abs(y0) < FARTHEST && abs(y1) < FARTHEST;
}

/** COEFFICIENTS of a window (step 6 and 7). The window must be allowed. */
export function coefficients(x0: f64, x1: f64, y0: f64, y1: f64): void {
  windowGrid(x0, x1, y0, y1, CELLS, GRID);
  product(DCT, ROWS, CELLS, GRID, CELLS, HALF);
  product(HALF, ROWS, CELLS, DCT_ACROSS, ROWS, COEFFICIENTS);
}

/** n × n cell means of a window, by bilinear interpolation of the area table: rows first, then columns. */
export function windowGrid(x0: f64, x1: f64, y0: f64, y1: f64, n: i32, grid: usize): void {
  edges(x0, x1, n, extentX, satColumns, X_WHOLE, X_PART, X_SIZE);
  edges(y0, y1, n, extentY, satRows, Y_WHOLE, Y_PART, Y_SIZE);
  const stride = (<usize>satColumns + 1) << 3;
  const cornerStride = <usize>(n + 1) << 3;

  for (let j = 0; j <= n; j++) {
    const t = load<f64>(Y_PART + (<usize>j << 3));
    const s = 1.0 - t;
    const above = sat + <usize>load<i32>(Y_WHOLE + (<usize>j << 2)) * stride;
    const below = above + stride;
    let to = CORNERS + <usize>j * cornerStride;
    for (let i = 0; i <= n; i++) {
      const column = <usize>load<i32>(X_WHOLE + (<usize>i << 2)) << 3;
      const p = load<f64>(X_PART + (<usize>i << 3));
      const left = load<f64>(above + column) * s + load<f64>(below + column) * t;
      const right = load<f64>(above + column, 8) * s + load<f64>(below + column, 8) * t;
      store<f64>(to, left * (1.0 - p) + right * p);
      to += 8;
    }
  }

  for (let j = 0; j < n; j++) {
    const dy = load<f64>(Y_SIZE + (<usize>j << 3));
    let top = CORNERS + <usize>j * cornerStride;
    let bottom = top + cornerStride;
    let to = grid + (<usize>(j * n) << 3);
    let before = load<f64>(bottom) - load<f64>(top);
    for (let i = 0; i < n; i++) {
      top += 8;
      bottom += 8;
      const after = load<f64>(bottom) - load<f64>(top);
      const area = max(dy * load<f64>(X_SIZE + (<usize>i << 3)), 1e-9);
      store<f64>(to, (after - before) / area);
      before = after;
      to += 8;
    }
  }
}

/** n + 1 cell edges in reduced pixels: whole part (at most limit − 1), fraction, and the n cell sizes. */
function edges(lo: f64, hi: f64, n: i32, extent: f64, limit: i32, wholes: usize, parts: usize, sizes: usize): void {
  let before = 0.0;
  for (let j = 0; j <= n; j++) {
    const p = min(max((lo + ((hi - lo) * <f64>j) / <f64>n) * extent, 0.0), <f64>limit);
    const whole = max(0, min(<i32>p, limit - 1));
    store<i32>(wholes + (<usize>j << 2), whole);
    store<f64>(parts + (<usize>j << 3), p - <f64>whole);
    if (j > 0) store<f64>(sizes + (<usize>(j - 1) << 3), p - before);
    before = p;
  }
}
