/**
 * Times the decoder and the coarse beacon separately, with and without their tables. Throws if the
 * results differ.
 */
import { readCoarseScores, copyMemory, feedPicture, writeSketch, type EngineWasm } from "../src/engine-wasm.ts";
import type { Sketch } from "../src/engine.ts";
import { toPictureRows, type Raster } from "../src/picture-rows.ts";
import { fromHex, vectors } from "../tests/vectors.ts";

/** Processor time in milliseconds of one decoding or one coarse pass; the best round. */
export interface PartTimes {
  readonly decode_2: number;
  readonly decode_68: number;
  readonly decode_hopeless: number;
  readonly coarse: number;
  /** Scores the same windows one by one from the area table, without shared coefficients. */
  readonly coarse_plain: number;
}

const rounds = 3;
const repeats = 200;

export function measureParts(engine: EngineWasm, picture: Raster, sketch: Sketch): PartTimes {
  const timeDecoding = (difference: Uint8Array, expected: number) =>
    measureBestTime(() => {
      for (let i = 0; i < repeats; i++) {
        new Uint8Array(engine.memory.buffer).set(difference, engine.difference.value);
        if (engine.decode() !== expected) throw new Error("the decoder returns a wrong error pattern");
      }
    }) / repeats;

  if (!feedPicture(engine, toPictureRows(picture))) throw new Error("the engine rejects the picture");
  writeSketch(engine, 0, sketch);
  const windows = listCoarseWindows();
  const coarse = measureBestTime(() => engine.runCoarsePass(1, 0, windows.length));
  const expectedScores = readCoarseScores(engine, 1, 0, windows.length)[0] ?? new Float64Array();
  const coarse_plain = measureBestTime(() => {
    windows.forEach((window, index) => {
      engine.scoreCoarseWindow(1, ...window);
      const scores = new Float64Array(copyMemory(engine, engine.coarseScoresAddress(0), 16).buffer);
      if (
        scores.some(
          (score, side) => Math.abs(score - (expectedScores[2 * index + side] ?? NaN)) > 1e-9 || Number.isNaN(score),
        )
      )
        throw new Error("the two coarse scores differ");
    });
  });
  engine.wipe();
  return {
    decode_2: timeDecoding(findDifference(2), 2),
    decode_68: timeDecoding(findDifference(68), 68),
    decode_hopeless: timeDecoding(findUndecodableDifference(), -1),
    coarse,
    coarse_plain,
  };
}

/** Times a decoder without tables, in JavaScript: the same steps, but products bit by bit. */
export function measurePlainDecoder(): Pick<PartTimes, "decode_2" | "decode_68" | "decode_hopeless"> {
  const timeDecoding = (difference: Uint8Array, expected: number) =>
    measureBestTime(() => {
      if (decodeWithoutTables(difference) !== expected)
        throw new Error("the plain decoder returns a wrong number of errors");
    });
  return {
    decode_2: timeDecoding(findDifference(2), 2),
    decode_68: timeDecoding(findDifference(68), 68),
    decode_hopeless: timeDecoding(findUndecodableDifference(), -1),
  };
}

function findDifference(weight: number): Uint8Array {
  const pattern = vectors.bch.patterns.find((row) => row.weight === weight && row.decodes);
  if (pattern === undefined) throw new Error("the error pattern is undefined");
  return fromHex(pattern.difference);
}

function findUndecodableDifference(): Uint8Array {
  const [difference] = vectors.bch.random_differences_that_must_not_decode;
  if (difference === undefined) throw new Error("the syndrome difference is undefined");
  return fromHex(difference);
}

/** All windows of the coarse pass, in its order. */
function listCoarseWindows(): (readonly [number, number, number, number])[] {
  const steps = [0, 0.0125, 0.025, 0.0375, 0.05, 0.0625];
  return steps.flatMap((a) =>
    steps.flatMap((b) => steps.flatMap((c) => steps.map((d) => [a, 1 - b, c, 1 - d] as const))),
  );
}

function measureBestTime(task: () => void): number {
  let shortest = Infinity;
  for (let round = 0; round < rounds; round++) {
    const start = process.cpuUsage();
    task();
    const { user, system } = process.cpuUsage(start);
    shortest = Math.min(shortest, (user + system) / 1000);
  }
  return shortest;
}

const fieldPolynomial = 0x805; // x¹¹ + x² + 1
const maxErrors = 68;
const codeLength = 2047;

function multiply(a: number, b: number): number {
  let sum = 0;
  for (
    let remaining = b, power = a;
    remaining > 0;
    remaining >>= 1, power = power & 0x400 ? (power << 1) ^ fieldPolynomial : power << 1
  )
    if (remaining & 1) sum ^= power;
  return sum;
}

/** b^2046 is the inverse of b. */
function divide(a: number, b: number): number {
  let result = a;
  for (let bit = 1, power = multiply(b, b); bit < 11; bit++, power = multiply(power, power))
    result = multiply(result, power);
  return result;
}

function decodeWithoutTables(difference: Uint8Array): number {
  const powerSums = [0];
  for (let j = 1, base = 2; j <= 2 * maxErrors; j++, base = multiply(base, 2)) {
    let sum = 0;
    for (let i = 681; i >= 0; i--) sum = multiply(sum, base) ^ (((difference[i >> 3] ?? 0) >> (i & 7)) & 1);
    powerSums.push(sum);
  }
  const locator = findLocator(powerSums);
  if (locator.length - 1 > maxErrors) return -1;
  let roots = 0;
  for (let i = 0, point = 1; i < codeLength; i++, point = multiply(point, 2))
    if (locator.reduceRight((value, coefficient) => multiply(value, point) ^ coefficient, 0) === 0) roots++;
  return roots === locator.length - 1 ? roots : -1;
}

/** Berlekamp–Massey. Returns size + 1 coefficients, low power first. */
function findLocator(powerSums: readonly number[]): number[] {
  let locator = [1];
  let previousLocator = [1];
  let size = 0;
  let shift = 1;
  let lastDiscrepancy = 1;
  for (let n = 0; n < 2 * maxErrors; n++, shift++) {
    let discrepancy = powerSums[n + 1] ?? 0;
    for (let i = 1; i <= size; i++) discrepancy ^= multiply(locator[i] ?? 0, powerSums[n + 1 - i] ?? 0);
    if (discrepancy === 0) continue;
    const factor = divide(discrepancy, lastDiscrepancy);
    const nextLocator = locator.slice();
    previousLocator.forEach((coefficient, i) => {
      nextLocator[i + shift] = (nextLocator[i + shift] ?? 0) ^ multiply(factor, coefficient);
    });
    if (2 * size <= n) {
      previousLocator = locator;
      size = n + 1 - size;
      lastDiscrepancy = discrepancy;
      shift = 0;
    }
    locator = Array.from(nextLocator, (value: number | undefined) => value ?? 0);
  }
  return Array.from({ length: size + 1 }, (_, i) => locator[i] ?? 0);
}
