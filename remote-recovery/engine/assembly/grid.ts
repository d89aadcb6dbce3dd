import {
  BAND_PASSED,
  GRID_SIZE,
  COARSE_GRID_SIZE,
  COARSE_DCT,
  COARSE_DCT_TRANSPOSED,
  COARSE_FREQUENCY_COUNT,
  COEFFICIENTS,
  CORNERS,
  DCT,
  DCT_TRANSPOSED,
  EVEN_DCT,
  EVEN_DCT_TRANSPOSED,
  GRID,
  HALF_GRID_SIZE,
  HALF_FREQUENCY_COUNT,
  MAX_COARSE_TABLE_ROWS,
  ODD_DCT,
  ODD_DCT_TRANSPOSED,
  PARTIAL_PRODUCT,
  FREQUENCY_COUNT,
  ROW_COEFFICIENTS,
  X_EDGE_FRACTION,
  X_EDGE_INTEGER,
  X_CELL_SIZE,
  Y_EDGE_FRACTION,
  Y_EDGE_INTEGER,
  Y_CELL_SIZE,
} from "./memory";
import { extentX, extentY, sat, satColumns, satRows } from "./picture";
import { multiplyMatrices } from "./matrix";

/** Limit of window sides, as a fraction of the picture. Searches stay far below it. */
const MAX_WINDOW_COORDINATE: f64 = 4.0;

/** Whether a picture is loaded and all sides are numbers below MAX_WINDOW_COORDINATE. */
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

/** Computes COEFFICIENTS of a window. Requires isWindowAllowed. */
export function computeCoefficients(x0: f64, x1: f64, y0: f64, y1: f64): void {
  computeGrid(x0, x1, y0, y1, GRID_SIZE, GRID);
  multiplyMatrices(DCT, FREQUENCY_COUNT, GRID_SIZE, GRID, GRID_SIZE, PARTIAL_PRODUCT);
  multiplyMatrices(PARTIAL_PRODUCT, FREQUENCY_COUNT, GRID_SIZE, DCT_TRANSPOSED, FREQUENCY_COUNT, COEFFICIENTS);
}

/**
 * Like computeCoefficients at half the work, but with other rounding: only for the search. Folds
 * the grid first, because cosines are even or odd about the middle: adds mirrored cells for even
 * rows and subtracts them for odd rows. COEFFICIENTS then holds four blocks (row even or odd, then
 * column even or odd), as FOLDED_COEFFICIENT_INDICES expects.
 */
export function computeFoldedCoefficients(x0: f64, x1: f64, y0: f64, y1: f64): void {
  computeGrid(x0, x1, y0, y1, GRID_SIZE, GRID);
  // BAND_PASSED holds the four folded quarters of the grid
  const quadrantBytes = (<usize>(HALF_GRID_SIZE * HALF_GRID_SIZE)) << 3;
  const lastColumnOffset = (<usize>(GRID_SIZE - 1)) << 3;
  let to = BAND_PASSED;
  for (let row = 0; row < HALF_GRID_SIZE; row++) {
    const top = GRID + ((<usize>(row * GRID_SIZE)) << 3);
    const bottom = GRID + ((<usize>((GRID_SIZE - 1 - row) * GRID_SIZE)) << 3);
    for (let column: usize = 0; column < (<usize>HALF_GRID_SIZE) << 3; column += 8) {
      const a = load<f64>(top + column);
      const b = load<f64>(top + lastColumnOffset - column);
      const c = load<f64>(bottom + column);
      const d = load<f64>(bottom + lastColumnOffset - column);
      store<f64>(to, a + c + (b + d));
      store<f64>(to + quadrantBytes, a + c - (b + d));
      store<f64>(to + 2 * quadrantBytes, a - c + (b - d));
      store<f64>(to + 3 * quadrantBytes, a - c - (b - d));
      to += 8;
    }
  }
  for (let quadrant = 0; quadrant < 4; quadrant++) {
    multiplyMatrices(
      quadrant < 2 ? EVEN_DCT : ODD_DCT,
      HALF_FREQUENCY_COUNT,
      HALF_GRID_SIZE,
      BAND_PASSED + <usize>quadrant * quadrantBytes,
      HALF_GRID_SIZE,
      PARTIAL_PRODUCT,
    );
    const out = COEFFICIENTS + ((<usize>(quadrant * HALF_FREQUENCY_COUNT * HALF_FREQUENCY_COUNT)) << 3);
    multiplyMatrices(
      PARTIAL_PRODUCT,
      HALF_FREQUENCY_COUNT,
      HALF_GRID_SIZE,
      (quadrant & 1) == 0 ? EVEN_DCT_TRANSPOSED : ODD_DCT_TRANSPOSED,
      HALF_FREQUENCY_COUNT,
      out,
    );
  }
}

/** Whether the rows of the area table fit into ROW_COEFFICIENTS. */
export function coarseTableFits(): bool {
  return satRows < MAX_COARSE_TABLE_ROWS;
}

/**
 * Fills ROW_COEFFICIENTS for coarse windows with these left and right sides: the horizontal
 * coefficients of each row of the area table.
 */
export function transformCoarseRows(x0: f64, x1: f64): void {
  computeEdges(x0, x1, COARSE_GRID_SIZE, extentX, satColumns, X_EDGE_INTEGER, X_EDGE_FRACTION, X_CELL_SIZE);
  const stride = (<usize>satColumns + 1) << 3;
  for (let row = 0; row <= satRows; row += 4) {
    for (let line = 0; line < 4; line++) {
      const from = sat + <usize>min(row + line, satRows) * stride;
      let to = GRID + ((<usize>(line * COARSE_GRID_SIZE)) << 3);
      let previous = 0.0;
      for (let i = 0; i <= COARSE_GRID_SIZE; i++) {
        const address = from + ((<usize>load<i32>(X_EDGE_INTEGER + ((<usize>i) << 2))) << 3);
        const t = load<f64>(X_EDGE_FRACTION + ((<usize>i) << 3));
        const current = load<f64>(address) * (1.0 - t) + load<f64>(address, 8) * t;
        if (i > 0) {
          store<f64>(to, (current - previous) / max(load<f64>(X_CELL_SIZE + ((<usize>(i - 1)) << 3)), 1e-9));
          to += 8;
        }
        previous = current;
      }
    }
    multiplyMatrices(
      GRID,
      4,
      COARSE_GRID_SIZE,
      COARSE_DCT_TRANSPOSED,
      COARSE_FREQUENCY_COUNT,
      ROW_COEFFICIENTS + ((<usize>(row * COARSE_FREQUENCY_COUNT)) << 3),
    );
  }
}

/**
 * Computes coarse COEFFICIENTS from ROW_COEFFICIENTS for a window with these upper and lower sides.
 */
export function transformCoarseColumns(y0: f64, y1: f64): void {
  computeEdges(y0, y1, COARSE_GRID_SIZE, extentY, satRows, Y_EDGE_INTEGER, Y_EDGE_FRACTION, Y_CELL_SIZE);
  for (let j = 0; j <= COARSE_GRID_SIZE; j++) {
    const above =
      ROW_COEFFICIENTS + ((<usize>(load<i32>(Y_EDGE_INTEGER + ((<usize>j) << 2)) * COARSE_FREQUENCY_COUNT)) << 3);
    const below = above + ((<usize>COARSE_FREQUENCY_COUNT) << 3);
    const t = load<f64>(Y_EDGE_FRACTION + ((<usize>j) << 3));
    const s = 1.0 - t;
    const to = CORNERS + ((<usize>(j * COARSE_FREQUENCY_COUNT)) << 3);
    for (let k: usize = 0; k < (<usize>COARSE_FREQUENCY_COUNT) << 3; k += 8)
      store<f64>(to + k, load<f64>(above + k) * s + load<f64>(below + k) * t);
  }
  for (let j = 0; j < COARSE_GRID_SIZE; j++) {
    const size = max(load<f64>(Y_CELL_SIZE + ((<usize>j) << 3)), 1e-9);
    const from = CORNERS + ((<usize>(j * COARSE_FREQUENCY_COUNT)) << 3);
    const to = GRID + ((<usize>(j * COARSE_FREQUENCY_COUNT)) << 3);
    for (let k: usize = 0; k < (<usize>COARSE_FREQUENCY_COUNT) << 3; k += 8) {
      store<f64>(to + k, (load<f64>(from + k + ((<usize>COARSE_FREQUENCY_COUNT) << 3)) - load<f64>(from + k)) / size);
    }
  }
  multiplyMatrices(COARSE_DCT, COARSE_FREQUENCY_COUNT, COARSE_GRID_SIZE, GRID, COARSE_FREQUENCY_COUNT, COEFFICIENTS);
}

/**
 * Computes n × n cell means of a window by bilinear interpolation of the area table: rows first,
 * then columns.
 */
export function computeGrid(x0: f64, x1: f64, y0: f64, y1: f64, n: i32, grid: usize): void {
  computeEdges(x0, x1, n, extentX, satColumns, X_EDGE_INTEGER, X_EDGE_FRACTION, X_CELL_SIZE);
  computeEdges(y0, y1, n, extentY, satRows, Y_EDGE_INTEGER, Y_EDGE_FRACTION, Y_CELL_SIZE);
  const stride = (<usize>satColumns + 1) << 3;
  const cornerStride = (<usize>(n + 1)) << 3;

  for (let j = 0; j <= n; j++) {
    const t = load<f64>(Y_EDGE_FRACTION + ((<usize>j) << 3));
    const s = 1.0 - t;
    const above = sat + <usize>load<i32>(Y_EDGE_INTEGER + ((<usize>j) << 2)) * stride;
    const below = above + stride;
    let to = CORNERS + <usize>j * cornerStride;
    for (let i = 0; i <= n; i++) {
      const columnOffset = (<usize>load<i32>(X_EDGE_INTEGER + ((<usize>i) << 2))) << 3;
      const horizontalFraction = load<f64>(X_EDGE_FRACTION + ((<usize>i) << 3));
      const left = load<f64>(above + columnOffset) * s + load<f64>(below + columnOffset) * t;
      const right = load<f64>(above + columnOffset, 8) * s + load<f64>(below + columnOffset, 8) * t;
      store<f64>(to, left * (1.0 - horizontalFraction) + right * horizontalFraction);
      to += 8;
    }
  }

  for (let j = 0; j < n; j++) {
    const dy = load<f64>(Y_CELL_SIZE + ((<usize>j) << 3));
    let top = CORNERS + <usize>j * cornerStride;
    let bottom = top + cornerStride;
    let to = grid + ((<usize>(j * n)) << 3);
    let previous = load<f64>(bottom) - load<f64>(top);
    for (let i = 0; i < n; i++) {
      top += 8;
      bottom += 8;
      const current = load<f64>(bottom) - load<f64>(top);
      const area = max(dy * load<f64>(X_CELL_SIZE + ((<usize>i) << 3)), 1e-9);
      store<f64>(to, (current - previous) / area);
      previous = current;
      to += 8;
    }
  }
}

/**
 * Computes n + 1 cell edges in reduced pixels and the n cell sizes. Each edge has a whole part, at
 * most pixelCount − 1, and a fraction.
 */
function computeEdges(
  low: f64,
  high: f64,
  n: i32,
  extent: f64,
  pixelCount: i32,
  integers: usize,
  fractions: usize,
  sizes: usize,
): void {
  let previous = 0.0;
  for (let j = 0; j <= n; j++) {
    const position = min(max((low + ((high - low) * <f64>j) / <f64>n) * extent, 0.0), <f64>pixelCount);
    const integer = max(0, min(<i32>position, pixelCount - 1));
    store<i32>(integers + ((<usize>j) << 2), integer);
    store<f64>(fractions + ((<usize>j) << 3), position - <f64>integer);
    if (j > 0) store<f64>(sizes + ((<usize>(j - 1)) << 3), position - previous);
    previous = position;
  }
}
