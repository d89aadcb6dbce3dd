/**
 * The blind search: a coarse pass over 1296 windows, upright and transposed, for several sketches
 * at once; six candidates for each sketch, refined by moving the sides. Mirrors and half turns do
 * not change magnitudes, so they cost nothing here. The search only steers: what it finds is
 * decoded from exact coefficients.
 */
import {
  CANDIDATE_COUNT,
  CANDIDATE_STRIDE,
  CANDIDATE_TABLE,
  COARSE_BUCKETS,
  COARSE_BUCKET_COUNT,
  COARSE_CELLS,
  COARSE_DCT,
  COARSE_DCT_TRANSPOSED,
  COARSE_ENTRY_COUNT,
  COARSE_INDEX,
  COARSE_ROWS,
  COARSE_SCORES,
  COARSE_TERMS,
  COARSE_TRANSPOSED_INDEX,
  COEFFICIENTS,
  GRID,
  PARTIAL_PRODUCT,
  SKETCHES,
  SKETCH_STRIDE,
  TRIED_MOVES,
} from "./memory";
import { bitAt, foldedBeaconScore } from "./bits";
import {
  coarseTableFits,
  computeFoldedCoefficients,
  computeGrid,
  isWindowAllowed,
  transformCoarseColumns,
  transformCoarseRows,
} from "./grid";
import { multiplyMatrices } from "./matrix";

/** Coarse sides are multiples of this, 0 … 5. */
const SIDE_STEP: f64 = 0.0125;
/** Coarse windows of one transposition whose sides all differ by less are the same candidate. */
const MIN_WINDOW_DISTANCE: f64 = 0.014;
/** A move must raise the score by more. */
const MIN_GAIN: f64 = 1e-6;

/** Side number 0 … 5 of each of the four sides of a coarse window, in the order of the loops. */
// @ts-ignore: decorator
@inline
function sidePosition(window: i32, side: i32): f64 {
  const divisor = side == 0 ? 216 : side == 1 ? 36 : side == 2 ? 6 : 1;
  const inset = SIDE_STEP * <f64>((window / divisor) % 6);
  return (side & 1) == 0 ? inset : 1.0 - inset;
}

/**
 * Scores windows from … to − 1 for the first `sketches` sketches. 36 windows in a row share their
 * left and right sides, so what depends on these alone is made once for all of them.
 */
export function scoreWindows(sketches: i32, from: i32, to: i32): void {
  const usesTable = coarseTableFits();
  let preparedGroup = -1;
  for (let window = from; window < to; window++) {
    if (!usesTable) {
      scoreSingleWindow(
        sketches,
        sidePosition(window, 0),
        sidePosition(window, 1),
        sidePosition(window, 2),
        sidePosition(window, 3),
        window,
      );
      continue;
    }
    if (window / 36 != preparedGroup) {
      preparedGroup = window / 36;
      transformCoarseRows(sidePosition(window, 0), sidePosition(window, 1));
    }
    transformCoarseColumns(sidePosition(window, 2), sidePosition(window, 3));
    scoreCoefficients(sketches, 2 * window, false);
    scoreCoefficients(sketches, 2 * window + 1, true);
  }
}

/**
 * Scores one window, which must be allowed, upright and transposed, as if it were number `window`
 * of the coarse pass.
 */
export function scoreSingleWindow(sketches: i32, x0: f64, x1: f64, y0: f64, y1: f64, window: i32): void {
  computeGrid(x0, x1, y0, y1, COARSE_CELLS, GRID);
  multiplyMatrices(COARSE_DCT, COARSE_ROWS, COARSE_CELLS, GRID, COARSE_CELLS, PARTIAL_PRODUCT);
  multiplyMatrices(PARTIAL_PRODUCT, COARSE_ROWS, COARSE_CELLS, COARSE_DCT_TRANSPOSED, COARSE_ROWS, COEFFICIENTS);
  scoreCoefficients(sketches, 2 * window, false);
  scoreCoefficients(sketches, 2 * window + 1, true);
}

/** Sets a candidate to start the refinement from; the window must be allowed. */
export function placeCandidate(index: i32, x0: f64, x1: f64, y0: f64, y1: f64, transposed: bool): void {
  const candidate = CANDIDATE_TABLE + <usize>index * CANDIDATE_STRIDE;
  memory.fill(candidate, 0, CANDIDATE_STRIDE);
  store<f64>(candidate, x0, 8);
  store<f64>(candidate, x1, 16);
  store<f64>(candidate, y0, 24);
  store<f64>(candidate, y1, 32);
  store<f64>(candidate, transposed ? 1.0 : 0.0, 40);
}

function scoreCoefficients(sketches: i32, entry: i32, transposed: bool): void {
  // One term for each choice and bucket; a sketch then only picks.
  const table = transposed ? COARSE_TRANSPOSED_INDEX : COARSE_INDEX;
  for (let i = 0; i < COARSE_BUCKET_COUNT; i++) {
    const first = coarseMagnitude(table, i, 0);
    const second = coarseMagnitude(table, i, 2);
    // (2·chosen − Σ) / (Σ + 1e-9) with either member chosen
    const term = (first - second) / (first + second + 1e-9);
    store<f64>(COARSE_TERMS + (<usize>i << 4), term);
    store<f64>(COARSE_TERMS + (<usize>i << 4), -term, 8);
  }
  for (let sketch = 0; sketch < sketches; sketch++) {
    const choice = SKETCHES + <usize>sketch * SKETCH_STRIDE;
    let total = 0.0;
    for (let i = 0; i < COARSE_BUCKET_COUNT; i++) {
      const bit = bitAt(choice, <i32>load<u16>(COARSE_BUCKETS + (<usize>i << 1)));
      total += load<f64>(COARSE_TERMS + (<usize>i << 4) + (<usize>bit << 3));
    }
    store<f64>(COARSE_SCORES + (<usize>(sketch * COARSE_ENTRY_COUNT + entry) << 3), total / <f64>COARSE_BUCKET_COUNT);
  }
}

// @ts-ignore: decorator
@inline
function coarseMagnitude(table: usize, bucket: i32, member: usize): f64 {
  return abs(load<f64>(COEFFICIENTS + (<usize>load<u16>(table + (<usize>bucket << 2) + member) << 3)));
}

/**
 * Fills the candidates of a sketch, best coarse score first; equal scores keep the order of the
 * loops. How many.
 */
export function chooseCandidates(sketch: i32): i32 {
  const scores = COARSE_SCORES + (<usize>(sketch * COARSE_ENTRY_COUNT) << 3);
  let count = 0;
  while (count < CANDIDATE_COUNT) {
    let best = -1;
    let bestScore = -2.0;
    for (let entry = 0; entry < COARSE_ENTRY_COUNT; entry++) {
      const score = load<f64>(scores + (<usize>entry << 3));
      if (score > bestScore && !isNear(entry, count)) {
        best = entry;
        bestScore = score;
      }
    }
    if (best < 0) break;
    const candidate = CANDIDATE_TABLE + <usize>count * CANDIDATE_STRIDE;
    const window = best >> 1;
    store<f64>(candidate, bestScore);
    for (let side = 0; side < 4; side++) store<f64>(candidate + (<usize>(side + 1) << 3), sidePosition(window, side));
    store<f64>(candidate, <f64>(best & 1), 40);
    store<f64>(candidate, <f64>best, 48);
    store<f64>(candidate, bestScore, 56);
    count++;
  }
  return count;
}

function isNear(entry: i32, count: i32): bool {
  for (let i = 0; i < count; i++) {
    const chosenEntry = <i32>load<f64>(CANDIDATE_TABLE + <usize>i * CANDIDATE_STRIDE, 48);
    if ((chosenEntry & 1) != (entry & 1)) continue;
    let near = true;
    for (let side = 0; side < 4; side++) {
      const distance = abs(sidePosition(chosenEntry >> 1, side) - sidePosition(entry >> 1, side));
      if (distance >= MIN_WINDOW_DISTANCE) near = false;
    }
    if (near) return true;
  }
  return false;
}

let x0: f64 = 0;
let x1: f64 = 0;
let y0: f64 = 0;
let y1: f64 = 0;
let score: f64 = 0;
/** Counts the windows that candidates have taken, with a step. Never 0 while refining. */
let moveStamp: i32 = 0;

/** Moves the sides of a candidate while the full score of the sketch grows. The score. */
export function refineCandidate(sketch: i32, index: i32): f64 {
  const choice = SKETCHES + <usize>sketch * SKETCH_STRIDE;
  const candidate = CANDIDATE_TABLE + <usize>index * CANDIDATE_STRIDE;
  const transposed = load<f64>(candidate, 40) != 0.0;
  x0 = load<f64>(candidate, 8);
  x1 = load<f64>(candidate, 16);
  y0 = load<f64>(candidate, 24);
  y1 = load<f64>(candidate, 32);
  computeFoldedCoefficients(x0, x1, y0, y1);
  score = foldedBeaconScore(choice, transposed);
  for (let s = 0; s < 4; s++) {
    const step = s == 0 ? 0.006 : s == 1 ? 0.003 : s == 2 ? 0.0015 : 0.0008;
    moveStamp++;
    for (let round = 0; round < 3; round++) {
      let moved = false;
      for (let move = 0; move < 6; move++) {
        if (tryMove(choice, transposed, move, step) || tryMove(choice, transposed, move, -step)) moved = true;
      }
      if (!moved) break;
    }
  }
  store<f64>(candidate, score);
  store<f64>(candidate, x0, 8);
  store<f64>(candidate, x1, 16);
  store<f64>(candidate, y0, 24);
  store<f64>(candidate, y1, 32);
  return score;
}

/**
 * Moves: x0; x1; y0; y1; x0 and x1; y0 and y1. True, and taken, when it raises the score. One that
 * did not raise it from this same window is not tried again.
 */
function tryMove(choice: usize, transposed: bool, move: i32, delta: f64): bool {
  const triedAddress = TRIED_MOVES + (<usize>(2 * move + (delta < 0.0 ? 1 : 0)) << 2);
  if (load<i32>(triedAddress) == moveStamp) return false;
  store<i32>(triedAddress, moveStamp);
  const nx0 = move == 0 || move == 4 ? x0 + delta : x0;
  const nx1 = move == 1 || move == 4 ? x1 + delta : x1;
  const ny0 = move == 2 || move == 5 ? y0 + delta : y0;
  const ny1 = move == 3 || move == 5 ? y1 + delta : y1;
  if (!isWindowAllowed(nx0, nx1, ny0, ny1)) return false;
  computeFoldedCoefficients(nx0, nx1, ny0, ny1);
  const movedScore = foldedBeaconScore(choice, transposed);
  if (!(movedScore > score + MIN_GAIN)) return false;
  moveStamp++;
  x0 = nx0;
  x1 = nx1;
  y0 = ny0;
  y1 = ny1;
  score = movedScore;
  return true;
}
