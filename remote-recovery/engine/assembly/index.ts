/**
 * Exports of the module. A caller writes RGBA rows to the strip and sketches to their slots, then
 * reads results from the areas below. Every argument is checked. A call with an invalid argument
 * returns −1, 0 or NaN, as documented, and changes nothing, except that beginPicture and
 * beginAreaTable always drop the previous picture.
 */
import {
  CANDIDATE_COUNT,
  CANDIDATE_STRIDE,
  CANDIDATE_TABLE,
  CHOICE_BYTES,
  COARSE_ENTRY_COUNT,
  COARSE_SCORES,
  COARSE_WINDOW_COUNT,
  COEFFICIENTS,
  SYNDROME_DIFFERENCE,
  ERRORS,
  FIXED_END,
  GRID,
  OUT_CHOICE,
  OUT_IMAGE_SECRET,
  OUT_MEASURES,
  OUT_SYNDROME,
  SKETCHES,
  SKETCH_SLOTS,
  SKETCH_STRIDE,
  SYNDROME_BYTES,
  WORD,
  WORK_START,
} from "./memory";
import { computeBeaconScore, extractChoiceBits, extractSecretBits } from "./bits";
import { decodeDifference, computeSyndrome } from "./bch";
import { computeCoefficients, isWindowAllowed } from "./grid";
import { measureQuality } from "./gate";
import { clearPicture, sat } from "./picture";
import { fillCandidateTable, writeCandidate, refineCandidate, scoreSingleWindow, scoreCoarseWindows } from "./search";
import { computeImageSecret } from "./sha256";
import { expandTables } from "./expand-tables";

expandTables();

export {
  beginPicture,
  beginAreaTable,
  endPicture,
  consumeRows,
  stripAddress,
  stripRows,
  lumaAddress,
  reductionFactor,
} from "./picture";

export const sketches: usize = SKETCHES;
export const sketchStride: usize = SKETCH_STRIDE;
export const sketchSlots: i32 = SKETCH_SLOTS;
export const outChoice: usize = OUT_CHOICE;
export const outSyndrome: usize = OUT_SYNDROME;
export const outImageSecret: usize = OUT_IMAGE_SECRET;
export const outMeasures: usize = OUT_MEASURES;
export const candidates: usize = CANDIDATE_TABLE;
export const candidateStride: usize = CANDIDATE_STRIDE;
export const coarseWindowCount: i32 = COARSE_WINDOW_COUNT;
/** For tests: intermediate results, and the areas of the decoder. */
export const grid: usize = GRID;
export const coefficientTable: usize = COEFFICIENTS;
export const word: usize = WORD;
export const difference: usize = SYNDROME_DIFFERENCE;
export const errors: usize = ERRORS;
export const workStart: usize = WORK_START;
export const workEnd: usize = FIXED_END;

let windowReady = false; // whether COEFFICIENTS holds a window of the current picture

/** Address of the area table of the current picture; 0 without one. */
export function satAddress(): usize {
  return sat;
}
export { satRows, satColumns, width, height } from "./picture";

/**
 * Computes the coefficients of a window, whose sides are fractions of width and height. Returns 1
 * on success, 0 for an invalid window.
 */
export function analyseWindow(x0: f64, x1: f64, y0: f64, y1: f64): i32 {
  if (!isWindowAllowed(x0, x1, y0, y1)) return 0;
  computeCoefficients(x0, x1, y0, y1);
  windowReady = true;
  return 1;
}

/**
 * Measures the analysed window for the gate; a verdict needs the enrolment window. Returns 1, or 0
 * without an analysed window.
 */
export function measureGate(): i32 {
  if (!windowReady) return 0;
  measureQuality();
  return 1;
}

/**
 * Writes choice, syndrome and image secret of the analysed window; enrolment needs the enrolment
 * window. Returns 1, or 0 without an analysed window.
 */
export function enrol(): i32 {
  if (!windowReady) return 0;
  extractChoiceBits(OUT_CHOICE);
  extractSecretBits(OUT_CHOICE, false, 0, 0, WORD);
  computeSyndrome(WORD, OUT_SYNDROME);
  computeImageSecret(WORD, OUT_IMAGE_SECRET);
  return 1;
}

/** Beacon score of a sketch in the analysed window; NaN without a window or for an unknown slot. */
export function score(sketch: i32, transposed: i32): f64 {
  if (!windowReady || sketch < 0 || sketch >= SKETCH_SLOTS) return NaN;
  return computeBeaconScore(SKETCHES + <usize>sketch * SKETCH_STRIDE, transposed != 0);
}

/**
 * Decodes a sketch in the analysed window with sign pattern (−1)^(a·u + b·v), and writes the image
 * secret. Returns the number of errors, or −1 if the sketch does not decode.
 */
export function decodeSketch(sketch: i32, transposed: i32, a: i32, b: i32): i32 {
  if (!windowReady || sketch < 0 || sketch >= SKETCH_SLOTS) return -1;
  const sketchAddress = SKETCHES + <usize>sketch * SKETCH_STRIDE;
  extractSecretBits(sketchAddress, transposed != 0, a & 1, b & 1, WORD);
  computeSyndrome(WORD, SYNDROME_DIFFERENCE);
  for (let i: usize = 0; i < <usize>SYNDROME_BYTES; i++) {
    store<u8>(
      SYNDROME_DIFFERENCE + i,
      load<u8>(SYNDROME_DIFFERENCE + i) ^ load<u8>(sketchAddress + <usize>CHOICE_BYTES + i),
    );
  }
  const count = decodeDifference();
  if (count < 0) return -1;
  for (let i: usize = 0; i < <usize>CHOICE_BYTES; i++) store<u8>(WORD + i, load<u8>(WORD + i) ^ load<u8>(ERRORS + i));
  computeImageSecret(WORD, OUT_IMAGE_SECRET);
  return count;
}

/**
 * Scores the first `count` sketches in coarse windows `from` … `to` − 1. Returns 1, or 0 if
 * invalid.
 */
export function runCoarsePass(count: i32, from: i32, to: i32): i32 {
  if (sat == 0 || count < 1 || count > SKETCH_SLOTS || from < 0 || to > COARSE_WINDOW_COUNT || from > to) return 0;
  windowReady = false;
  scoreCoarseWindows(count, from, to);
  return 1;
}

/**
 * Scores the first `count` sketches in any window. Returns 1, or 0 if invalid. The first two coarse
 * scores of each sketch are then its upright and its transposed score.
 */
export function scoreCoarseWindow(count: i32, x0: f64, x1: f64, y0: f64, y1: f64): i32 {
  if (count < 1 || count > SKETCH_SLOTS || !isWindowAllowed(x0, x1, y0, y1)) return 0;
  windowReady = false;
  scoreSingleWindow(count, x0, x1, y0, y1, 0);
  return 1;
}

/** Address of the COARSE_ENTRY_COUNT float64 scores of a sketch; 0 for an unknown slot. */
export function coarseScoresAddress(sketch: i32): usize {
  if (sketch < 0 || sketch >= SKETCH_SLOTS) return 0;
  return COARSE_SCORES + ((<usize>(sketch * COARSE_ENTRY_COUNT)) << 3);
}

/** Sets the start window of a candidate. Returns 1, or 0 if invalid. */
export function setCandidate(index: i32, x0: f64, x1: f64, y0: f64, y1: f64, transposed: i32): i32 {
  if (index < 0 || index >= CANDIDATE_COUNT || !isWindowAllowed(x0, x1, y0, y1)) return 0;
  writeCandidate(index, x0, x1, y0, y1, transposed != 0);
  return 1;
}

/** Fills the candidates of a sketch from its coarse scores. Returns their number; 0 if invalid. */
export function pickCandidates(sketch: i32): i32 {
  if (sat == 0 || sketch < 0 || sketch >= SKETCH_SLOTS) return 0;
  return fillCandidateTable(sketch);
}

/** Refines a candidate for a sketch. Returns the candidate's score; NaN if invalid. */
export function refine(sketch: i32, index: i32): f64 {
  if (sat == 0 || sketch < 0 || sketch >= SKETCH_SLOTS || index < 0 || index >= CANDIDATE_COUNT) return NaN;
  windowReady = false;
  return refineCandidate(sketch, index);
}

/** For tests: writes the syndrome of WORD to SYNDROME_DIFFERENCE. */
export function computeWordSyndrome(): void {
  computeSyndrome(WORD, SYNDROME_DIFFERENCE);
}

/** For tests: decodes SYNDROME_DIFFERENCE to ERRORS. Returns the number of errors, or −1. */
export function decode(): i32 {
  return decodeDifference();
}

/**
 * For tests: counts the bits in which WORD differs from the secret bits of the analysed window
 * under a sign pattern.
 */
export function countDifferingBits(sketch: i32, transposed: i32, a: i32, b: i32): i32 {
  if (!windowReady || sketch < 0 || sketch >= SKETCH_SLOTS) return -1;
  extractSecretBits(SKETCHES + <usize>sketch * SKETCH_STRIDE, transposed != 0, a & 1, b & 1, ERRORS);
  let count = 0;
  for (let i: usize = 0; i < <usize>CHOICE_BYTES; i++)
    count += <i32>popcnt<u32>(load<u8>(ERRORS + i) ^ load<u8>(WORD + i));
  return count;
}

/** Zeroes the picture, its bits and all results. */
export function wipe(): void {
  windowReady = false;
  clearPicture();
  memory.fill(WORK_START, 0, FIXED_END - WORK_START);
}
