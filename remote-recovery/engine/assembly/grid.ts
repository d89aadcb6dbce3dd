import {
  ACROSS,
  BAND,
  CELLS,
  COARSE_CELLS,
  COARSE_DCT,
  COARSE_DCT_ACROSS,
  COARSE_ROWS,
  COEFFICIENTS,
  CORNERS,
  DCT,
  DCT_ACROSS,
  EVEN_DCT,
  EVEN_DCT_ACROSS,
  GRID,
  HALF,
  HALF_CELLS,
  HALF_ROWS,
  MOST_COARSE_ROWS,
  ODD_DCT,
  ODD_DCT_ACROSS,
  ROWS,
  X_PART,
  X_SIZE,
  X_WHOLE,
  Y_PART,
  Y_SIZE,
  Y_WHOLE,
} from "./memory";
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

/**
 * The same numbers for the search alone, at half the work and with other roundings: cosines are
 * even or odd about the middle, so the grid is folded first (mirrored cells added for even rows,
 * subtracted for odd ones). They lie in COEFFICIENTS in four blocks, row even or odd by column even
 * or odd, where FOLDED_AT finds them.
 */
export function foldedCoefficients(x0: f64, x1: f64, y0: f64, y1: f64): void {
  windowGrid(x0, x1, y0, y1, CELLS, GRID);
  const block = (<usize>(HALF_CELLS * HALF_CELLS)) << 3; // BAND: four folded quarters of the grid
  const across = (<usize>(CELLS - 1)) << 3;
  let to = BAND;
  for (let row = 0; row < HALF_CELLS; row++) {
    const top = GRID + ((<usize>(row * CELLS)) << 3);
    const bottom = GRID + ((<usize>((CELLS - 1 - row) * CELLS)) << 3);
    for (let column: usize = 0; column < (<usize>HALF_CELLS) << 3; column += 8) {
      const a = load<f64>(top + column);
      const b = load<f64>(top + across - column);
      const c = load<f64>(bottom + column);
      const d = load<f64>(bottom + across - column);
      store<f64>(to, a + c + (b + d));
      store<f64>(to + block, a + c - (b + d));
      store<f64>(to + 2 * block, a - c + (b - d));
      store<f64>(to + 3 * block, a - c - (b - d));
      to += 8;
    }
  }
  for (let part = 0; part < 4; part++) {
    product(part < 2 ? EVEN_DCT : ODD_DCT, HALF_ROWS, HALF_CELLS, BAND + <usize>part * block, HALF_CELLS, HALF);
    const out = COEFFICIENTS + ((<usize>(part * HALF_ROWS * HALF_ROWS)) << 3);
    product(HALF, HALF_ROWS, HALF_CELLS, (part & 1) == 0 ? EVEN_DCT_ACROSS : ODD_DCT_ACROSS, HALF_ROWS, out);
  }
}

/** True when the rows of the area table fit ACROSS. */
export function coarseTableFits(): bool {
  return satRows < MOST_COARSE_ROWS;
}

/**
 * For coarse windows with these left and right sides: the coefficients across of each row of the
 * area table, to ACROSS.
 */
export function coarseAcross(x0: f64, x1: f64): void {
  edges(x0, x1, COARSE_CELLS, extentX, satColumns, X_WHOLE, X_PART, X_SIZE);
  const stride = (<usize>satColumns + 1) << 3;
  for (let row = 0; row <= satRows; row += 4) {
    for (let line = 0; line < 4; line++) {
      const from = sat + <usize>min(row + line, satRows) * stride;
      let to = GRID + ((<usize>(line * COARSE_CELLS)) << 3);
      let before = 0.0;
      for (let i = 0; i <= COARSE_CELLS; i++) {
        const at = from + ((<usize>load<i32>(X_WHOLE + ((<usize>i) << 2))) << 3);
        const t = load<f64>(X_PART + ((<usize>i) << 3));
        const here = load<f64>(at) * (1.0 - t) + load<f64>(at, 8) * t;
        if (i > 0) {
          store<f64>(to, (here - before) / max(load<f64>(X_SIZE + ((<usize>(i - 1)) << 3)), 1e-9));
          to += 8;
        }
        before = here;
      }
    }
    product(GRID, 4, COARSE_CELLS, COARSE_DCT_ACROSS, COARSE_ROWS, ACROSS + ((<usize>(row * COARSE_ROWS)) << 3));
  }
}

/**
 * With ACROSS of a left and a right side: the coarse coefficients of the window with these upper
 * and lower sides.
 */
export function coarseDown(y0: f64, y1: f64): void {
  edges(y0, y1, COARSE_CELLS, extentY, satRows, Y_WHOLE, Y_PART, Y_SIZE);
  for (let j = 0; j <= COARSE_CELLS; j++) {
    const above = ACROSS + ((<usize>(load<i32>(Y_WHOLE + ((<usize>j) << 2)) * COARSE_ROWS)) << 3);
    const below = above + ((<usize>COARSE_ROWS) << 3);
    const t = load<f64>(Y_PART + ((<usize>j) << 3));
    const s = 1.0 - t;
    const to = CORNERS + ((<usize>(j * COARSE_ROWS)) << 3);
    for (let k: usize = 0; k < (<usize>COARSE_ROWS) << 3; k += 8)
      store<f64>(to + k, load<f64>(above + k) * s + load<f64>(below + k) * t);
  }
  for (let j = 0; j < COARSE_CELLS; j++) {
    const size = max(load<f64>(Y_SIZE + ((<usize>j) << 3)), 1e-9);
    const from = CORNERS + ((<usize>(j * COARSE_ROWS)) << 3);
    const to = GRID + ((<usize>(j * COARSE_ROWS)) << 3);
    for (let k: usize = 0; k < (<usize>COARSE_ROWS) << 3; k += 8) {
      store<f64>(to + k, (load<f64>(from + k + ((<usize>COARSE_ROWS) << 3)) - load<f64>(from + k)) / size);
    }
  }
  product(COARSE_DCT, COARSE_ROWS, COARSE_CELLS, GRID, COARSE_ROWS, COEFFICIENTS);
}

/**
 * n × n cell means of a window, by bilinear interpolation of the area table: rows first, then
 * columns.
 */
export function windowGrid(x0: f64, x1: f64, y0: f64, y1: f64, n: i32, grid: usize): void {
  edges(x0, x1, n, extentX, satColumns, X_WHOLE, X_PART, X_SIZE);
  edges(y0, y1, n, extentY, satRows, Y_WHOLE, Y_PART, Y_SIZE);
  const stride = (<usize>satColumns + 1) << 3;
  const cornerStride = (<usize>(n + 1)) << 3;

  for (let j = 0; j <= n; j++) {
    const t = load<f64>(Y_PART + ((<usize>j) << 3));
    const s = 1.0 - t;
    const above = sat + <usize>load<i32>(Y_WHOLE + ((<usize>j) << 2)) * stride;
    const below = above + stride;
    let to = CORNERS + <usize>j * cornerStride;
    for (let i = 0; i <= n; i++) {
      const column = (<usize>load<i32>(X_WHOLE + ((<usize>i) << 2))) << 3;
      const p = load<f64>(X_PART + ((<usize>i) << 3));
      const left = load<f64>(above + column) * s + load<f64>(below + column) * t;
      const right = load<f64>(above + column, 8) * s + load<f64>(below + column, 8) * t;
      store<f64>(to, left * (1.0 - p) + right * p);
      to += 8;
    }
  }

  for (let j = 0; j < n; j++) {
    const dy = load<f64>(Y_SIZE + ((<usize>j) << 3));
    let top = CORNERS + <usize>j * cornerStride;
    let bottom = top + cornerStride;
    let to = grid + ((<usize>(j * n)) << 3);
    let before = load<f64>(bottom) - load<f64>(top);
    for (let i = 0; i < n; i++) {
      top += 8;
      bottom += 8;
      const after = load<f64>(bottom) - load<f64>(top);
      const area = max(dy * load<f64>(X_SIZE + ((<usize>i) << 3)), 1e-9);
      store<f64>(to, (after - before) / area);
      before = after;
      to += 8;
    }
  }
}

/**
 * n + 1 cell edges in reduced pixels: whole part (at most limit − 1), fraction, and the n cell
 * sizes.
 */
function edges(lo: f64, hi: f64, n: i32, extent: f64, limit: i32, wholes: usize, parts: usize, sizes: usize): void {
  let before = 0.0;
  for (let j = 0; j <= n; j++) {
    const p = min(max((lo + ((hi - lo) * <f64>j) / <f64>n) * extent, 0.0), <f64>limit);
    const whole = max(0, min(<i32>p, limit - 1));
    store<i32>(wholes + ((<usize>j) << 2), whole);
    store<f64>(parts + ((<usize>j) << 3), p - <f64>whole);
    if (j > 0) store<f64>(sizes + ((<usize>(j - 1)) << 3), p - before);
    before = p;
  }
}
