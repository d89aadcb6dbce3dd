/**
 * The exports. Bytes in, bytes out: a caller writes RGBA rows into the strip and sketches into
 * their slots, and reads results from the areas named below. Every argument is checked here; a
 * refused call changes nothing. −1 (or 0, or NaN, where the member says so) means refused.
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
  DIFFERENCE,
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
import { beaconScore, extractChoiceBits, extractSecretBits } from "./bits";
import { decodeDifference, syndromeOf } from "./bch";
import { computeCoefficients, isWindowAllowed } from "./grid";
import { measureQuality } from "./gate";
import { clearPicture, sat } from "./picture";
import { chooseCandidates, placeCandidate, refineCandidate, scoreSingleWindow, scoreWindows } from "./search";
import { imageSecret } from "./sha256";
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

/** Addresses of the areas. */
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
/** For tests: what lies between picture and bits, and the code on its own. */
export const grid: usize = GRID;
export const coefficientTable: usize = COEFFICIENTS;
export const word: usize = WORD;
export const difference: usize = DIFFERENCE;
export const errors: usize = ERRORS;
export const workStart: usize = WORK_START;
export const workEnd: usize = FIXED_END;

let windowReady = false; // COEFFICIENTS hold a window of the present picture

/** Address and size of the area table of the present picture; 0 without one. */
export function satAddress(): usize {
  return sat;
}
export { satRows, satColumns, width, height } from "./picture";

/** Makes the coefficients of a window, in parts of width and height. 1 when done. */
export function analyseWindow(x0: f64, x1: f64, y0: f64, y1: f64): i32 {
  if (!isWindowAllowed(x0, x1, y0, y1)) return 0;
  computeCoefficients(x0, x1, y0, y1);
  windowReady = true;
  return 1;
}

/** Gate measures of the analysed window (the enrolment window, for a gate). 1 when done. */
export function measureGate(): i32 {
  if (!windowReady) return 0;
  measureQuality();
  return 1;
}

/**
 * Choice, syndrome and image secret of the analysed window (the enrolment window, to enrol). 1 when
 * done.
 */
export function enrol(): i32 {
  if (!windowReady) return 0;
  extractChoiceBits(OUT_CHOICE);
  extractSecretBits(OUT_CHOICE, false, 0, 0, WORD);
  syndromeOf(WORD, OUT_SYNDROME);
  imageSecret(WORD, OUT_IMAGE_SECRET);
  return 1;
}

/** Beacon score of a sketch in the analysed window; NaN when refused. */
export function score(sketch: i32, transposed: i32): f64 {
  if (!windowReady || sketch < 0 || sketch >= SKETCH_SLOTS) return NaN;
  return beaconScore(SKETCHES + <usize>sketch * SKETCH_STRIDE, transposed != 0);
}

/**
 * Decodes a sketch in the analysed window, with sign pattern (−1)^(a·u + b·v). The number of
 * errors, and the image secret in its area; −1 when it does not decode.
 */
export function decodeSketch(sketch: i32, transposed: i32, a: i32, b: i32): i32 {
  if (!windowReady || sketch < 0 || sketch >= SKETCH_SLOTS) return -1;
  const slot = SKETCHES + <usize>sketch * SKETCH_STRIDE;
  extractSecretBits(slot, transposed != 0, a & 1, b & 1, WORD);
  syndromeOf(WORD, DIFFERENCE);
  for (let i: usize = 0; i < <usize>SYNDROME_BYTES; i++) {
    store<u8>(DIFFERENCE + i, load<u8>(DIFFERENCE + i) ^ load<u8>(slot + <usize>CHOICE_BYTES + i));
  }
  const count = decodeDifference();
  if (count < 0) return -1;
  for (let i: usize = 0; i < <usize>CHOICE_BYTES; i++) store<u8>(WORD + i, load<u8>(WORD + i) ^ load<u8>(ERRORS + i));
  imageSecret(WORD, OUT_IMAGE_SECRET);
  return count;
}

/**
 * Coarse scores of the first `count` sketches in windows from … to − 1 of `coarseWindowCount`. 1
 * when done.
 */
export function runCoarsePass(count: i32, from: i32, to: i32): i32 {
  if (sat == 0 || count < 1 || count > SKETCH_SLOTS || from < 0 || to > COARSE_WINDOW_COUNT || from > to) return 0;
  windowReady = false;
  scoreWindows(count, from, to);
  return 1;
}

/**
 * Coarse score of the first `count` sketches in any window. 1 when done: the scores of sketch i,
 * upright and transposed, are the first two of its coarse scores.
 */
export function scoreCoarseWindow(count: i32, x0: f64, x1: f64, y0: f64, y1: f64): i32 {
  if (count < 1 || count > SKETCH_SLOTS || !isWindowAllowed(x0, x1, y0, y1)) return 0;
  windowReady = false;
  scoreSingleWindow(count, x0, x1, y0, y1, 0);
  return 1;
}

/**
 * Where the coarse scores of a sketch are: COARSE_ENTRY_COUNT float64; 0 when there is no such
 * slot.
 */
export function coarseScoresAddress(sketch: i32): usize {
  if (sketch < 0 || sketch >= SKETCH_SLOTS) return 0;
  return COARSE_SCORES + ((<usize>(sketch * COARSE_ENTRY_COUNT)) << 3);
}

/** Sets a candidate, to be refined from any window. 1 when done. */
export function setCandidate(index: i32, x0: f64, x1: f64, y0: f64, y1: f64, transposed: i32): i32 {
  if (index < 0 || index >= CANDIDATE_COUNT || !isWindowAllowed(x0, x1, y0, y1)) return 0;
  placeCandidate(index, x0, x1, y0, y1, transposed != 0);
  return 1;
}

/** Fills the candidates of a sketch from its coarse scores. How many; 0 when refused. */
export function pickCandidates(sketch: i32): i32 {
  if (sat == 0 || sketch < 0 || sketch >= SKETCH_SLOTS) return 0;
  return chooseCandidates(sketch);
}

/** Refines a candidate for a sketch. Its score; NaN when refused. */
export function refine(sketch: i32, index: i32): f64 {
  if (sat == 0 || sketch < 0 || sketch >= SKETCH_SLOTS || index < 0 || index >= CANDIDATE_COUNT) return NaN;
  windowReady = false;
  return refineCandidate(sketch, index);
}

/** For tests: the syndrome of WORD, to DIFFERENCE. */
export function syndromeOfWord(): void {
  syndromeOf(WORD, DIFFERENCE);
}

/** For tests: decodes DIFFERENCE into ERRORS. Their number, or −1. */
export function decode(): i32 {
  return decodeDifference();
}

/**
 * For tests: bits that differ between the word of the analysed window, with a sign pattern, and the
 * word given in WORD.
 */
export function distance(sketch: i32, transposed: i32, a: i32, b: i32): i32 {
  if (!windowReady || sketch < 0 || sketch >= SKETCH_SLOTS) return -1;
  extractSecretBits(SKETCHES + <usize>sketch * SKETCH_STRIDE, transposed != 0, a & 1, b & 1, ERRORS);
  let count = 0;
  for (let i: usize = 0; i < <usize>CHOICE_BYTES; i++)
    count += <i32>popcnt<u32>(load<u8>(ERRORS + i) ^ load<u8>(WORD + i));
  return count;
}

/** Fills everything that held the picture, its bits or results with zeros. */
export function wipe(): void {
  windowReady = false;
  clearPicture();
  memory.fill(WORK_START, 0, FIXED_END - WORK_START);
}
