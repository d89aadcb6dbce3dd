/**
 * The decoder of the code and the coarse beacon alone: with their tables, and the same steps
 * written plainly. Both have to agree.
 */
import { coarseScoresIn, copyOut, feedPicture, writeSketch, type EngineWasm } from "../src/engine-wasm.ts";
import type { Sketch } from "../src/engine.ts";
import { rowsOf, type Raster } from "../src/rows.ts";
import { fromHex, vectors } from "../tests/vectors.ts";

/** Milliseconds of processor time, the best of some rounds, of one decoding each. */
export interface Parts {
  readonly decode_2: number;
  readonly decode_68: number;
  readonly decode_hopeless: number;
  readonly coarse: number;
  /** The same windows one by one, each from the area table, without what windows share. */
  readonly coarse_plain: number;
}

const rounds = 3;
const repeats = 200;

export function measureParts(engine: EngineWasm, picture: Raster, sketch: Sketch): Parts {
  const decoding = (difference: Uint8Array, expected: number) =>
    best(() => {
      for (let i = 0; i < repeats; i++) {
        new Uint8Array(engine.memory.buffer).set(difference, engine.difference.value);
        if (engine.decode() !== expected) throw new Error("the decoder gave something else");
      }
    }) / repeats;

  if (!feedPicture(engine, rowsOf(picture))) throw new Error("the engine refused the picture");
  writeSketch(engine, 0, sketch);
  const windows = coarseWindows();
  const coarse = best(() => engine.coarse(1, 0, windows.length));
  const tabled = coarseScoresIn(engine, 1, 0, windows.length)[0] ?? new Float64Array();
  const coarse_plain = best(() => {
    windows.forEach((window, at) => {
      engine.coarseAt(1, ...window);
      const scores = new Float64Array(copyOut(engine, engine.coarseScoresAddress(0), 16).buffer);
      if (scores.some((score, side) => Math.abs(score - (tabled[2 * at + side] ?? NaN)) > 1e-9 || Number.isNaN(score)))
        throw new Error("another score");
    });
  });
  engine.wipe();
  return {
    decode_2: decoding(differenceOf(2), 2),
    decode_68: decoding(differenceOf(68), 68),
    decode_hopeless: decoding(hopeless(), -1),
    coarse,
    coarse_plain,
  };
}

/** The decoder without tables, in plain JavaScript: the same steps, products bit by bit. */
export function measurePlainDecoder(): Pick<Parts, "decode_2" | "decode_68" | "decode_hopeless"> {
  const decoding = (difference: Uint8Array, expected: number) =>
    best(() => {
      if (decodePlainly(difference) !== expected) throw new Error("the plain decoder gave something else");
    });
  return {
    decode_2: decoding(differenceOf(2), 2),
    decode_68: decoding(differenceOf(68), 68),
    decode_hopeless: decoding(hopeless(), -1),
  };
}

function differenceOf(weight: number): Uint8Array {
  const pattern = vectors.bch.patterns.find((row) => row.weight === weight && row.decodes);
  if (pattern === undefined) throw new Error("there is no such pattern");
  return fromHex(pattern.difference);
}

function hopeless(): Uint8Array {
  const [difference] = vectors.bch.random_differences_that_must_not_decode;
  if (difference === undefined) throw new Error("there is no such difference");
  return fromHex(difference);
}

/** All windows of the coarse pass, in its order (image-key.md, "Recovery search" and detail 9). */
function coarseWindows(): (readonly [number, number, number, number])[] {
  const steps = [0, 0.0125, 0.025, 0.0375, 0.05, 0.0625];
  return steps.flatMap((a) =>
    steps.flatMap((b) => steps.flatMap((c) => steps.map((d) => [a, 1 - b, c, 1 - d] as const))),
  );
}

function best(work: () => void): number {
  let least = Infinity;
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

const field = 0x805; // x¹¹ + x² + 1
const mostErrors = 68;
const length = 2047;

function product(a: number, b: number): number {
  let sum = 0;
  for (let left = b, power = a; left > 0; left >>= 1, power = power & 0x400 ? (power << 1) ^ field : power << 1)
    if (left & 1) sum ^= power;
  return sum;
}

/** b^2046 is the inverse of b. */
function quotient(a: number, b: number): number {
  let result = a;
  for (let bit = 1, power = product(b, b); bit < 11; bit++, power = product(power, power))
    result = product(result, power);
  return result;
}

function decodePlainly(difference: Uint8Array): number {
  const sums = [0];
  for (let j = 1, base = 2; j <= 2 * mostErrors; j++, base = product(base, 2)) {
    let sum = 0;
    for (let i = 681; i >= 0; i--) sum = product(sum, base) ^ (((difference[i >> 3] ?? 0) >> (i & 7)) & 1);
    sums.push(sum);
  }
  const locator = shortestLocator(sums);
  if (locator.length - 1 > mostErrors) return -1;
  let roots = 0;
  for (let i = 0, point = 1; i < length; i++, point = product(point, 2))
    if (locator.reduceRight((value, coefficient) => product(value, point) ^ coefficient, 0) === 0) roots++;
  return roots === locator.length - 1 ? roots : -1;
}

/** Berlekamp–Massey, low power first, as long as the register. */
function shortestLocator(sums: readonly number[]): number[] {
  let locator = [1];
  let before = [1];
  let size = 0;
  let shift = 1;
  let last = 1;
  for (let n = 0; n < 2 * mostErrors; n++, shift++) {
    let discrepancy = sums[n + 1] ?? 0;
    for (let i = 1; i <= size; i++) discrepancy ^= product(locator[i] ?? 0, sums[n + 1 - i] ?? 0);
    if (discrepancy === 0) continue;
    const factor = quotient(discrepancy, last);
    const next = locator.slice();
    before.forEach((coefficient, i) => {
      next[i + shift] = (next[i + shift] ?? 0) ^ product(factor, coefficient);
    });
    if (2 * size <= n) {
      before = locator;
      size = n + 1 - size;
      last = discrepancy;
      shift = 0;
    }
    locator = Array.from(next, (value: number | undefined) => value ?? 0);
  }
  return Array.from({ length: size + 1 }, (_, i) => locator[i] ?? 0);
}
