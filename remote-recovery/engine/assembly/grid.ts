import {
  BAND,
  CELLS,
  COARSE_CELLS,
  COARSE_DCT,
  COARSE_DCT_TRANSPOSED,
  COARSE_ROWS,
  COEFFICIENTS,
  CORNERS,
  DCT,
  DCT_TRANSPOSED,
  EVEN_DCT,
  EVEN_DCT_TRANSPOSED,
  GRID,
  HALF_CELLS,
  HALF_ROWS,
  MAX_COARSE_ROWS,
  ODD_DCT,
  ODD_DCT_TRANSPOSED,
  PARTIAL_PRODUCT,
  ROWS,
  ROW_COEFFICIENTS,
  X_FRACTION,
  X_INTEGER,
  X_SIZE,
  Y_FRACTION,
  Y_INTEGER,
  Y_SIZE,
} from "./memory";
import { extentX, extentY, sat, satColumns, satRows } from "./picture";
import { multiplyMatrices } from "./matrix";

/** Window sides farther out than this are refused: no search leaves the picture so far. */
const MAX_WINDOW_COORDINATE: f64 = 4.0;

/** True when a picture is there and the sides are numbers not too far from it. */
export function isWindowAllowed(x0: f64, x1: f64, y0: f64, y1: f64): bool {
  // Comparisons with NaN are false, so NaN is refused too.
  return (
    sat != 0 &&
    abs(x0) < MAX_WINDOW_COORDINATE &&
    abs(x1) < MAX_WINDOW_COORDINATE &&
    abs(y0) < MAX_WINDOW_COORDINATE &&
    abs(y1) < MAX_WINDOW_COORDINATE
  );
}

/** COEFFICIENTS of a window (step 6 and 7). The window must be allowed. */
export function computeCoefficients(x0: f64, x1: f64, y0: f64, y1: f64): void {
  computeGrid(x0, x1, y0, y1, CELLS, GRID);
  multiplyMatrices(DCT, ROWS, CELLS, GRID, CELLS, PARTIAL_PRODUCT);
  multiplyMatrices(PARTIAL_PRODUCT, ROWS, CELLS, DCT_TRANSPOSED, ROWS, COEFFICIENTS);
}

/**
 * The same numbers for the search alone, at half the work and with other roundings: cosines are
 * even or odd about the middle, so the grid is folded first (mirrored cells added for even rows,
 * subtracted for odd ones). They lie in COEFFICIENTS in four blocks, row even or odd by column even
 * or odd, where FOLDED_INDEX finds them.
 */
export function computeFoldedCoefficients(x0: f64, x1: f64, y0: f64, y1: f64): void {
  computeGrid(x0, x1, y0, y1, CELLS, GRID);
  const block = (<usize>(HALF_CELLS * HALF_CELLS)) << 3; // BAND: four folded quarters of the grid
  const rowEnd = (<usize>(CELLS - 1)) << 3;
  let to = BAND;
  for (let row = 0; row < HALF_CELLS; row++) {
    const top = GRID + ((<usize>(row * CELLS)) << 3);
    const bottom = GRID + ((<usize>((CELLS - 1 - row) * CELLS)) << 3);
    for (let column: usize = 0; column < (<usize>HALF_CELLS) << 3; column += 8) {
      const a = load<f64>(top + column);
      const b = load<f64>(top + rowEnd - column);
      const c = load<f64>(bottom + column);
      const d = load<f64>(bottom + rowEnd - column);
      store<f64>(to, a + c + (b + d));
      store<f64>(to + block, a + c - (b + d));
      store<f64>(to + 2 * block, a - c + (b - d));
      store<f64>(to + 3 * block, a - c - (b - d));
      to += 8;
    }
  }
  for (let quadrant = 0; quadrant < 4; quadrant++) {
    multiplyMatrices(
      quadrant < 2 ? EVEN_DCT : ODD_DCT,
      HALF_ROWS,
      HALF_CELLS,
      BAND + <usize>quadrant * block,
      HALF_CELLS,
      PARTIAL_PRODUCT,
    );
    const out = COEFFICIENTS + ((<usize>(quadrant * HALF_ROWS * HALF_ROWS)) << 3);
    multiplyMatrices(
      PARTIAL_PRODUCT,
      HALF_ROWS,
      HALF_CELLS,
      (quadrant & 1) == 0 ? EVEN_DCT_TRANSPOSED : ODD_DCT_TRANSPOSED,
      HALF_ROWS,
      out,
    );
  }
}

/** True when the rows of the area table fit ROW_COEFFICIENTS. */
export function coarseTableFits(): bool {
  return satRows < MAX_COARSE_ROWS;
}

/**
 * For coarse windows with these left and right sides: the coefficients across of each row of the
 * area table, to ROW_COEFFICIENTS.
 */
export function transformCoarseRows(x0: f64, x1: f64): void {
  computeEdges(x0, x1, COARSE_CELLS, extentX, satColumns, X_INTEGER, X_FRACTION, X_SIZE);
  const stride = (<usize>satColumns + 1) << 3;
  for (let row = 0; row <= satRows; row += 4) {
    for (let line = 0; line < 4; line++) {
      const from = sat + <usize>min(row + line, satRows) * stride;
      let to = GRID + ((<usize>(line * COARSE_CELLS)) << 3);
      let previous = 0.0;
      for (let i = 0; i <= COARSE_CELLS; i++) {
        const address = from + ((<usize>load<i32>(X_INTEGER + ((<usize>i) << 2))) << 3);
        const t = load<f64>(X_FRACTION + ((<usize>i) << 3));
        const current = load<f64>(address) * (1.0 - t) + load<f64>(address, 8) * t;
        if (i > 0) {
          store<f64>(to, (current - previous) / max(load<f64>(X_SIZE + ((<usize>(i - 1)) << 3)), 1e-9));
          to += 8;
        }
        previous = current;
      }
    }
    multiplyMatrices(
      GRID,
      4,
      COARSE_CELLS,
      COARSE_DCT_TRANSPOSED,
      COARSE_ROWS,
      ROW_COEFFICIENTS + ((<usize>(row * COARSE_ROWS)) << 3),
    );
  }
}

/**
 * With ROW_COEFFICIENTS of a left and a right side: the coarse coefficients of the window with
 * these upper and lower sides.
 */
export function transformCoarseColumns(y0: f64, y1: f64): void {
  computeEdges(y0, y1, COARSE_CELLS, extentY, satRows, Y_INTEGER, Y_FRACTION, Y_SIZE);
  for (let j = 0; j <= COARSE_CELLS; j++) {
    const above = ROW_COEFFICIENTS + ((<usize>(load<i32>(Y_INTEGER + ((<usize>j) << 2)) * COARSE_ROWS)) << 3);
    const below = above + ((<usize>COARSE_ROWS) << 3);
    const t = load<f64>(Y_FRACTION + ((<usize>j) << 3));
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
  multiplyMatrices(COARSE_DCT, COARSE_ROWS, COARSE_CELLS, GRID, COARSE_ROWS, COEFFICIENTS);
}

/**
 * n × n cell means of a window, by bilinear interpolation of the area table: rows first, then
 * columns.
 */
export function computeGrid(x0: f64, x1: f64, y0: f64, y1: f64, n: i32, grid: usize): void {
  computeEdges(x0, x1, n, extentX, satColumns, X_INTEGER, X_FRACTION, X_SIZE);
  computeEdges(y0, y1, n, extentY, satRows, Y_INTEGER, Y_FRACTION, Y_SIZE);
  const stride = (<usize>satColumns + 1) << 3;
  const cornerStride = (<usize>(n + 1)) << 3;

  for (let j = 0; j <= n; j++) {
    const t = load<f64>(Y_FRACTION + ((<usize>j) << 3));
    const s = 1.0 - t;
    const above = sat + <usize>load<i32>(Y_INTEGER + ((<usize>j) << 2)) * stride;
    const below = above + stride;
    let to = CORNERS + <usize>j * cornerStride;
    for (let i = 0; i <= n; i++) {
      const column = (<usize>load<i32>(X_INTEGER + ((<usize>i) << 2))) << 3;
      const p = load<f64>(X_FRACTION + ((<usize>i) << 3));
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
    let previous = load<f64>(bottom) - load<f64>(top);
    for (let i = 0; i < n; i++) {
      top += 8;
      bottom += 8;
      const current = load<f64>(bottom) - load<f64>(top);
      const area = max(dy * load<f64>(X_SIZE + ((<usize>i) << 3)), 1e-9);
      store<f64>(to, (current - previous) / area);
      previous = current;
      to += 8;
    }
  }
}

/**
 * n + 1 cell edges in reduced pixels: whole part (at most limit − 1), fraction, and the n cell
 * sizes.
 */
function computeEdges(
  lo: f64,
  hi: f64,
  n: i32,
  extent: f64,
  limit: i32,
  integers: usize,
  fractions: usize,
  sizes: usize,
): void {
  let previous = 0.0;
  for (let j = 0; j <= n; j++) {
    const p = min(max((lo + ((hi - lo) * <f64>j) / <f64>n) * extent, 0.0), <f64>limit);
    const integer = max(0, min(<i32>p, limit - 1));
    store<i32>(integers + ((<usize>j) << 2), integer);
    store<f64>(fractions + ((<usize>j) << 3), p - <f64>integer);
    if (j > 0) store<f64>(sizes + ((<usize>(j - 1)) << 3), p - previous);
    previous = p;
  }
}
