/**
 * The engine's WASM instance with the types of assembly/index.ts. The product creates instances
 * only here.
 */
import type { PictureRows } from "./picture-rows.ts";
import { byteLengths, type GateMeasures, type Sketch } from "./engine.ts";

const exportedFunctions = [
  "beginPicture",
  "beginAreaTable",
  "endPicture",
  "consumeRows",
  "stripAddress",
  "stripRows",
  "lumaAddress",
  "reductionFactor",
  "satAddress",
  "analyseWindow",
  "measureGate",
  "enrol",
  "score",
  "decodeSketch",
  "runCoarsePass",
  "scoreCoarseWindow",
  "coarseScoresAddress",
  "setCandidate",
  "pickCandidates",
  "refine",
  "computeWordSyndrome",
  "decode",
  "countDifferingBits",
  "wipe",
] as const;
const exportedGlobals = [
  "sketches",
  "sketchStride",
  "sketchSlots",
  "outChoice",
  "outSyndrome",
  "outImageSecret",
  "outMeasures",
  "candidates",
  "candidateStride",
  "coarseWindowCount",
  "grid",
  "coefficientTable",
  "word",
  "difference",
  "errors",
  "workStart",
  "workEnd",
  "satRows",
  "satColumns",
  "width",
  "height",
] as const;

type WasmFunction = (...numbers: readonly number[]) => number;
export type EngineWasm = { readonly memory: WebAssembly.Memory } & Readonly<
  Record<(typeof exportedFunctions)[number], WasmFunction>
> &
  Readonly<Record<(typeof exportedGlobals)[number], { readonly value: number }>>;

/** Creates an instance with its own memory. Throws a TypeError if the module is not the engine. */
export function instantiateEngine(module: WebAssembly.Module): EngineWasm {
  const { exports } = new WebAssembly.Instance(module);
  const hasAllExports =
    exports["memory"] instanceof WebAssembly.Memory &&
    exportedFunctions.every((name) => typeof exports[name] === "function") &&
    exportedGlobals.every((name) => exports[name] instanceof WebAssembly.Global);
  if (!hasAllExports) throw new TypeError("the module is not the image engine");
  return exports as unknown as EngineWasm; // checked above
}

/** A window, whose sides are fractions of width and height. */
export type SearchWindow = readonly [x0: number, x1: number, y0: number, y1: number];
export const enrolmentWindow: SearchWindow = [0.06, 0.94, 0.06, 0.94];

/** A window that the search found for a sketch. */
export interface Candidate {
  readonly score: number;
  readonly window: SearchWindow;
  readonly transposed: boolean;
  /** Index of the coarse window from which the refinement started, and that window's score. */
  readonly startWindowIndex: number;
  readonly coarseScore: number;
}

/**
 * Area table of a picture, which is all that a search needs. Reveals the picture: fill the table
 * with 0 after use.
 */
export interface AreaTable {
  /** Pixels, after orientation. */
  readonly width: number;
  readonly height: number;
  readonly sums: Float64Array<ArrayBuffer>;
}

const viewAreaTable = (wasm: EngineWasm) =>
  new Float64Array(wasm.memory.buffer, wasm.satAddress(), (wasm.satColumns.value + 1) * (wasm.satRows.value + 1));

export function copyAreaTable(wasm: EngineWasm): AreaTable {
  return { width: wasm.width.value, height: wasm.height.value, sums: new Float64Array(viewAreaTable(wasm)) };
}

/** Loads the area table of another instance in place of pixels. False if its size is invalid. */
export function loadAreaTable(wasm: EngineWasm, { width, height, sums }: AreaTable): boolean {
  if (wasm.beginAreaTable(width, height) !== 1) return false;
  const target = viewAreaTable(wasm);
  if (target.length !== sums.length) return false;
  target.set(sums);
  return true;
}

/**
 * Coarse scores of the first `count` sketches in windows `from` … `to` − 1. Each window has an
 * upright and a transposed score.
 */
export function readCoarseScores(
  wasm: EngineWasm,
  count: number,
  from: number,
  to: number,
): Float64Array<ArrayBuffer>[] {
  return Array.from(
    { length: count },
    (_, slot) => new Float64Array(wasm.memory.buffer, wasm.coarseScoresAddress(slot) + from * 16, (to - from) * 2),
  ).map((scores) => new Float64Array(scores));
}

/** Writes coarse scores that {@link readCoarseScores} read in another instance. */
export function writeCoarseScores(wasm: EngineWasm, from: number, scores: readonly Float64Array[]): void {
  scores.forEach((slotScores, slot) => {
    new Float64Array(wasm.memory.buffer, wasm.coarseScoresAddress(slot) + from * 16, slotScores.length).set(slotScores);
  });
}

export function copyMemory(wasm: EngineWasm, address: number, length: number): Uint8Array {
  return new Uint8Array(wasm.memory.buffer, address, length).slice();
}

export function writeSketch(wasm: EngineWasm, slot: number, sketch: Sketch): void {
  const address = wasm.sketches.value + slot * wasm.sketchStride.value;
  const memory = new Uint8Array(wasm.memory.buffer);
  memory.set(sketch.choice, address);
  memory.set(sketch.syndrome, address + byteLengths.choice);
}

export function readSketch(wasm: EngineWasm): Sketch {
  return {
    choice: copyMemory(wasm, wasm.outChoice.value, byteLengths.choice),
    syndrome: copyMemory(wasm, wasm.outSyndrome.value, byteLengths.syndrome),
  };
}

export function readImageSecret(wasm: EngineWasm): Uint8Array {
  return copyMemory(wasm, wasm.outImageSecret.value, byteLengths.imageSecret);
}

export function readMeasures(wasm: EngineWasm): GateMeasures {
  const [coverage = 0, spread = 0, median = 0, tenth = 0, peak = 0, slope = 0, estimate = 0] = new Float64Array(
    wasm.memory.buffer,
    wasm.outMeasures.value,
    7,
  );
  return { coverage, spread, median, tenth, peak, slope, estimate };
}

export function readCandidate(wasm: EngineWasm, index: number): Candidate {
  const [score = 0, x0 = 0, x1 = 0, y0 = 0, y1 = 0, transposed = 0, entry = 0, coarseScore = 0] = new Float64Array(
    wasm.memory.buffer,
    wasm.candidates.value + index * wasm.candidateStride.value,
    8,
  );
  return { score, window: [x0, x1, y0, y1], transposed: transposed !== 0, startWindowIndex: entry >> 1, coarseScore };
}

/**
 * Feeds pixels into the engine. False if a side is under 64, there are too many pixels, or there is
 * not enough memory.
 */
export function feedPicture(wasm: EngineWasm, { width, height, orientation, readRows }: PictureRows): boolean {
  if (wasm.beginPicture(width, height, orientation) !== 1) return false;
  for (let row = 0; row < height;) {
    const count = Math.min(wasm.stripRows(), height - row);
    readRows(row, count, new Uint8Array(wasm.memory.buffer, wasm.stripAddress(), count * width * 4));
    wasm.consumeRows(count);
    row += count;
  }
  return wasm.endPicture() === 1;
}
