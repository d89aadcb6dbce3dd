/**
 * The blind search. A coarse pass over 1296 windows, upright and transposed, scores several
 * sketches; then six candidates per sketch are refined by moving their sides. Mirrors and half
 * turns keep magnitudes and need no extra work. The search only chooses windows: decoding uses
 * exact coefficients.
 */
import {
  CANDIDATE_COUNT,
  CANDIDATE_STRIDE,
  CANDIDATE_TABLE,
  COARSE_BUCKET_NUMBERS,
  COARSE_BUCKET_COUNT,
  COARSE_GRID_SIZE,
  COARSE_DCT,
  COARSE_DCT_TRANSPOSED,
  COARSE_ENTRY_COUNT,
  COARSE_COEFFICIENT_INDICES,
  COARSE_FREQUENCY_COUNT,
  COARSE_SCORES,
  COARSE_TERMS,
  COARSE_TRANSPOSED_COEFFICIENT_INDICES,
  COEFFICIENTS,
  GRID,
  PARTIAL_PRODUCT,
  SKETCHES,
  SKETCH_STRIDE,
  LAST_TRY_STAMPS,
} from "./memory";
import { getBit, computeFoldedBeaconScore } from "./bits";
import {
  coarseTableFits,
  computeFoldedCoefficients,
  computeGrid,
  isWindowAllowed,
  transformCoarseColumns,
  transformCoarseRows,
} from "./grid";
import { multiplyMatrices } from "./matrix";

/** Coarse sides are inset by 0 … 5 times this. */
const SIDE_STEP: f64 = 0.0125;
/**
 * Two coarse windows of one transposition are the same candidate if all their sides differ by less.
 */
const MIN_WINDOW_DISTANCE: f64 = 0.014;
const MIN_GAIN: f64 = 1e-6;

/**
 * Position of side 0 … 3 (x0, x1, y0, y1) of a coarse window. A window's number has one base-6
 * digit per side, x0 first.
 */
// @ts-ignore: decorator
@inline
function computeSidePosition(window: i32, side: i32): f64 {
  const divisor = side == 0 ? 216 : side == 1 ? 36 : side == 2 ? 6 : 1;
  const inset = SIDE_STEP * <f64>((window / divisor) % 6);
  return (side & 1) == 0 ? inset : 1.0 - inset;
}

/**
 * Scores coarse windows `from` … `to` − 1 for the first `sketchCount` sketches. Each 36 consecutive
 * windows share left and right sides, and therefore ROW_COEFFICIENTS.
 */
export function scoreCoarseWindows(sketchCount: i32, from: i32, to: i32): void {
  const usesTable = coarseTableFits();
  let preparedGroup = -1;
  for (let window = from; window < to; window++) {
    if (!usesTable) {
      scoreSingleWindow(
        sketchCount,
        computeSidePosition(window, 0),
        computeSidePosition(window, 1),
        computeSidePosition(window, 2),
        computeSidePosition(window, 3),
        window,
      );
      continue;
    }
    if (window / 36 != preparedGroup) {
      preparedGroup = window / 36;
      transformCoarseRows(computeSidePosition(window, 0), computeSidePosition(window, 1));
    }
    transformCoarseColumns(computeSidePosition(window, 2), computeSidePosition(window, 3));
    scoreCoefficients(sketchCount, 2 * window, false);
    scoreCoefficients(sketchCount, 2 * window + 1, true);
  }
}

/**
 * Scores one window, upright and transposed, and stores it as coarse window `window`. Requires
 * isWindowAllowed.
 */
export function scoreSingleWindow(sketchCount: i32, x0: f64, x1: f64, y0: f64, y1: f64, window: i32): void {
  computeGrid(x0, x1, y0, y1, COARSE_GRID_SIZE, GRID);
  multiplyMatrices(COARSE_DCT, COARSE_FREQUENCY_COUNT, COARSE_GRID_SIZE, GRID, COARSE_GRID_SIZE, PARTIAL_PRODUCT);
  multiplyMatrices(
    PARTIAL_PRODUCT,
    COARSE_FREQUENCY_COUNT,
    COARSE_GRID_SIZE,
    COARSE_DCT_TRANSPOSED,
    COARSE_FREQUENCY_COUNT,
    COEFFICIENTS,
  );
  scoreCoefficients(sketchCount, 2 * window, false);
  scoreCoefficients(sketchCount, 2 * window + 1, true);
}

/** Sets the start window of a candidate. Requires isWindowAllowed. */
export function writeCandidate(index: i32, x0: f64, x1: f64, y0: f64, y1: f64, transposed: bool): void {
  const candidate = CANDIDATE_TABLE + <usize>index * CANDIDATE_STRIDE;
  memory.fill(candidate, 0, CANDIDATE_STRIDE);
  store<f64>(candidate, x0, 8);
  store<f64>(candidate, x1, 16);
  store<f64>(candidate, y0, 24);
  store<f64>(candidate, y1, 32);
  store<f64>(candidate, transposed ? 1.0 : 0.0, 40);
}

function scoreCoefficients(sketchCount: i32, entry: i32, transposed: bool): void {
  // Computes one term per bucket and choice; each sketch only selects among them.
  const table = transposed ? COARSE_TRANSPOSED_COEFFICIENT_INDICES : COARSE_COEFFICIENT_INDICES;
  for (let i = 0; i < COARSE_BUCKET_COUNT; i++) {
    const firstMagnitude = readCoarseMagnitude(table, i, 0);
    const secondMagnitude = readCoarseMagnitude(table, i, 2);
    // (2·chosen − Σ) / (Σ + 1e-9) if the first member is chosen
    const term = (firstMagnitude - secondMagnitude) / (firstMagnitude + secondMagnitude + 1e-9);
    store<f64>(COARSE_TERMS + (<usize>i << 4), term);
    store<f64>(COARSE_TERMS + (<usize>i << 4), -term, 8);
  }
  for (let sketch = 0; sketch < sketchCount; sketch++) {
    const choice = SKETCHES + <usize>sketch * SKETCH_STRIDE;
    let total = 0.0;
    for (let i = 0; i < COARSE_BUCKET_COUNT; i++) {
      const bit = getBit(choice, <i32>load<u16>(COARSE_BUCKET_NUMBERS + (<usize>i << 1)));
      total += load<f64>(COARSE_TERMS + (<usize>i << 4) + (<usize>bit << 3));
    }
    store<f64>(COARSE_SCORES + (<usize>(sketch * COARSE_ENTRY_COUNT + entry) << 3), total / <f64>COARSE_BUCKET_COUNT);
  }
}

// @ts-ignore: decorator
@inline
function readCoarseMagnitude(table: usize, bucket: i32, memberOffset: usize): f64 {
  return abs(load<f64>(COEFFICIENTS + (<usize>load<u16>(table + (<usize>bucket << 2) + memberOffset) << 3)));
}

/**
 * Fills the candidates of a sketch, best coarse score first; equal scores keep the order of
 * windows. Returns the number of candidates.
 */
export function fillCandidateTable(sketch: i32): i32 {
  const scores = COARSE_SCORES + (<usize>(sketch * COARSE_ENTRY_COUNT) << 3);
  let count = 0;
  while (count < CANDIDATE_COUNT) {
    let bestEntry = -1;
    let bestScore = -2.0;
    for (let entry = 0; entry < COARSE_ENTRY_COUNT; entry++) {
      const entryScore = load<f64>(scores + (<usize>entry << 3));
      if (entryScore > bestScore && !isNearChosen(entry, count)) {
        bestEntry = entry;
        bestScore = entryScore;
      }
    }
    if (bestEntry < 0) break;
    const candidate = CANDIDATE_TABLE + <usize>count * CANDIDATE_STRIDE;
    const window = bestEntry >> 1;
    store<f64>(candidate, bestScore);
    for (let side = 0; side < 4; side++) store<f64>(candidate + (<usize>(side + 1) << 3), computeSidePosition(window, side));
    store<f64>(candidate, <f64>(bestEntry & 1), 40);
    store<f64>(candidate, <f64>bestEntry, 48);
    store<f64>(candidate, bestScore, 56);
    count++;
  }
  return count;
}

function isNearChosen(entry: i32, count: i32): bool {
  for (let i = 0; i < count; i++) {
    const chosenEntry = <i32>load<f64>(CANDIDATE_TABLE + <usize>i * CANDIDATE_STRIDE, 48);
    if ((chosenEntry & 1) != (entry & 1)) continue;
    let isDuplicate = true;
    for (let side = 0; side < 4; side++) {
      const sideDistance = abs(computeSidePosition(chosenEntry >> 1, side) - computeSidePosition(entry >> 1, side));
      if (sideDistance >= MIN_WINDOW_DISTANCE) isDuplicate = false;
    }
    if (isDuplicate) return true;
  }
  return false;
}

let x0: f64 = 0;
let x1: f64 = 0;
let y0: f64 = 0;
let y1: f64 = 0;
let score: f64 = 0;
/**
 * Identifies the current window and step; incremented when either changes. Never 0 during
 * refinement.
 */
let moveStamp: i32 = 0;

/** Moves the sides of a candidate while that raises the sketch's full score. Returns the score. */
export function refineCandidate(sketch: i32, index: i32): f64 {
  const choice = SKETCHES + <usize>sketch * SKETCH_STRIDE;
  const candidate = CANDIDATE_TABLE + <usize>index * CANDIDATE_STRIDE;
  const transposed = load<f64>(candidate, 40) != 0.0;
  x0 = load<f64>(candidate, 8);
  x1 = load<f64>(candidate, 16);
  y0 = load<f64>(candidate, 24);
  y1 = load<f64>(candidate, 32);
  computeFoldedCoefficients(x0, x1, y0, y1);
  score = computeFoldedBeaconScore(choice, transposed);
  for (let stepIndex = 0; stepIndex < 4; stepIndex++) {
    const step = stepIndex == 0 ? 0.006 : stepIndex == 1 ? 0.003 : stepIndex == 2 ? 0.0015 : 0.0008;
    moveStamp++;
    for (let round = 0; round < 3; round++) {
      let hasMoved = false;
      for (let move = 0; move < 6; move++) {
        if (tryMove(choice, transposed, move, step) || tryMove(choice, transposed, move, -step)) hasMoved = true;
      }
      if (!hasMoved) break;
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
 * Tries one move: of x0, x1, y0, y1, both x sides, or both y sides. Applies the move and returns
 * true if the score grows. A move that failed from the same window is not tried again.
 */
function tryMove(choice: usize, transposed: bool, move: i32, delta: f64): bool {
  const stampAddress = LAST_TRY_STAMPS + (<usize>(2 * move + (delta < 0.0 ? 1 : 0)) << 2);
  if (load<i32>(stampAddress) == moveStamp) return false;
  store<i32>(stampAddress, moveStamp);
  const movedX0 = move == 0 || move == 4 ? x0 + delta : x0;
  const movedX1 = move == 1 || move == 4 ? x1 + delta : x1;
  const movedY0 = move == 2 || move == 5 ? y0 + delta : y0;
  const movedY1 = move == 3 || move == 5 ? y1 + delta : y1;
  if (!isWindowAllowed(movedX0, movedX1, movedY0, movedY1)) return false;
  computeFoldedCoefficients(movedX0, movedX1, movedY0, movedY1);
  const movedScore = computeFoldedBeaconScore(choice, transposed);
  if (!(movedScore > score + MIN_GAIN)) return false;
  moveStamp++;
  x0 = movedX0;
  x1 = movedX1;
  y0 = movedY0;
  y1 = movedY1;
  score = movedScore;
  return true;
}
