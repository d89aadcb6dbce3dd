/**
 * Writes assembly/tables.ts: the constants of profile RIE-1. Computes them from their definitions
 * with integers, and checks them against the hashes that the profile fixes. Run `node
 * remote-recovery/engine/tables/generate.ts`.
 */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const expectedHashes = {
  buckets: "9e2db6b60e7bfb38bcc5c02ad16b55ff3ca388f028fedf6f7735eeaa0452ca98",
  dct: "8f24b3d4f010e5b0b227fbe3bc2a009dff478c4b72d0564b515a9e5bf9a766bf",
  coarseDct: "5a402e78f62267cfcb930c4009cb5231b027a45c60916c57e5704b1ee4cba6c1",
  powers: "0cabd1e3237b26c9bcaad1ddfb0d660fa4c43535de3a86ce1b1130beebc967dc",
  generator: "9e040831d879dc257fc3efc5098058e25459131feca98be8f18e6729287a7a71",
};

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

function verifyTable(name: keyof typeof expectedHashes, bytes: Uint8Array): void {
  if (sha256(bytes) !== expectedHashes[name])
    throw new Error(`the computed ${name} table does not have the hash that RIE-1 fixes`);
}

function toFloat64Bytes(values: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 8));
  values.forEach((value, index) => {
    view.setFloat64(index * 8, value, true);
  });
  return new Uint8Array(view.buffer);
}

/**
 * cos(πj / halfPeriod) for j = 0 … halfPeriod / 2, each as the nearest float64. Uses a Taylor
 * series in fixed point with 256 fractional bits.
 */
export function computeCosines(halfPeriod: number): number[] {
  const fractionBits = 256n;
  const fixedPointOne = 1n << fractionBits;
  const pi = machinPi(fractionBits);
  return Array.from({ length: halfPeriod / 2 + 1 }, (_, j) => {
    if (2 * j === halfPeriod) return 0;
    const angle = (pi * BigInt(j)) / BigInt(halfPeriod);
    const squaredAngle = (angle * angle) >> fractionBits;
    let term = fixedPointOne;
    let sum = fixedPointOne;
    for (let k = 2n; term !== 0n; k += 2n) {
      term = -((term * squaredAngle) >> fractionBits) / (k * (k - 1n));
      sum += term;
    }
    return Number(sum) / 2 ** 256; // Number() rounds to the nearest float64; the division is exact
  });
}

/** π in fixed point with guard bits: 16·atan(1/5) − 4·atan(1/239). */
function machinPi(fractionBits: bigint): bigint {
  const guardBits = 32n;
  const arctangentOfInverse = (x: bigint) => {
    let power = (1n << (fractionBits + guardBits)) / x;
    let sum = power;
    for (let k = 3n, sign = -1n; power !== 0n; k += 2n, sign = -sign) {
      power /= x * x;
      sum += (sign * power) / k;
    }
    return sum;
  };
  return (16n * arctangentOfInverse(5n) - 4n * arctangentOfInverse(239n)) >> guardBits;
}

/**
 * Orthonormal DCT-II, row by row, computed from the cosines like in assembly/expand-tables.ts.
 * Needed only for the table's hash.
 */
export function computeDctTable(rows: number, n: number): number[] {
  const halfPeriod = 2 * n;
  const cosineTable = computeCosines(halfPeriod);
  const out: number[] = [];
  for (let k = 0; k < rows; k++) {
    const scale = Math.sqrt((k === 0 ? 1 : 2) / n);
    for (let i = 0; i < n; i++) {
      let angleIndex = (k * (2 * i + 1)) % (2 * halfPeriod);
      angleIndex = Math.min(angleIndex, 2 * halfPeriod - angleIndex);
      out.push(
        (angleIndex <= halfPeriod / 2
          ? elementAt(cosineTable, angleIndex)
          : -elementAt(cosineTable, halfPeriod - angleIndex)) * scale,
      );
    }
  }
  return out;
}

/**
 * Positions of all buckets: v and u of member 0, then v and u of member 1. 8188 numbers below 80.
 */
export function computeBucketTable(): number[] {
  const positions: { r2: number; v: number; u: number }[] = [];
  for (let v = 2; v < 80; v++)
    for (let u = 2; u < 80; u++) if (u * u + v * v >= 25) positions.push({ r2: u * u + v * v, v, u });
  positions.sort((a, b) => a.r2 - b.r2 || a.v - b.v || a.u - b.u);
  const selectedPositions = positions.slice(0, 2 * 2047);
  let randomState = 1;
  for (let start = 0; start < selectedPositions.length; start += 128) {
    const size = Math.min(128, selectedPositions.length - start);
    for (let k = size - 1; k > 0; k--) {
      randomState = (Math.imul(1664525, randomState) + 1013904223) >>> 0;
      const j = (randomState >>> 8) % (k + 1);
      const swapped = elementAt(selectedPositions, start + k);
      selectedPositions[start + k] = elementAt(selectedPositions, start + j);
      selectedPositions[start + j] = swapped;
    }
  }
  return selectedPositions.flatMap(({ v, u }) => [v, u]);
}

/** α^i for i = 0 … 2046 in GF(2^11) modulo x^11 + x^2 + 1. */
export function computeAlphaPowers(): number[] {
  const out: number[] = [];
  for (let i = 0, x = 1; i < 2047; i++) {
    out.push(x);
    x <<= 1;
    if (x & 2048) x ^= 0x805;
  }
  return out;
}

/**
 * g(x), the product of the minimal polynomials of α^1 … α^136. Bit i is the coefficient of x^i; the
 * degree is 682.
 */
export function computeGeneratorPolynomial(): bigint {
  const exp = computeAlphaPowers();
  const log = new Map(exp.map((value, index) => [value, index]));
  const multiply = (a: number, b: number) =>
    a === 0 || b === 0 ? 0 : elementAt(exp, ((log.get(a) ?? 0) + (log.get(b) ?? 0)) % 2047);
  const visitedExponents = new Set<number>();
  let generator = 1n;
  for (let j = 1; j < 136; j += 2) {
    if (visitedExponents.has(j)) continue;
    let minimalPolynomial = [1]; // low power first
    for (let i = j; !visitedExponents.has(i); i = (2 * i) % 2047) {
      visitedExponents.add(i);
      const root = elementAt(exp, i);
      minimalPolynomial = [...minimalPolynomial, 0].map(
        (_, k) => multiply(minimalPolynomial[k] ?? 0, root) ^ (minimalPolynomial[k - 1] ?? 0),
      );
    }
    let product = 0n;
    minimalPolynomial.forEach((coefficient, k) => {
      if (coefficient === 1) product ^= generator << BigInt(k);
    });
    generator = product;
  }
  return generator;
}

function elementAt<T>(list: readonly T[], index: number): T {
  const value = list[index];
  if (value === undefined) throw new Error("the index is outside the table");
  return value;
}

/**
 * Source of assembly/tables.ts. Throws if a table does not have the hash that the profile fixes.
 */
export function generateTablesSource(): string {
  const buckets = computeBucketTable();
  const alphaPowers = computeAlphaPowers();
  const generator = computeGeneratorPolynomial();
  const generatorBytes = Uint8Array.from({ length: 86 }, (_, i) => Number((generator >> BigInt(8 * i)) & 255n));
  verifyTable("buckets", Uint8Array.from(buckets));
  verifyTable("dct", toFloat64Bytes(computeDctTable(80, 128)));
  verifyTable("coarseDct", toFloat64Bytes(computeDctTable(24, 48)));
  verifyTable("powers", new Uint8Array(Uint16Array.from(alphaPowers).buffer));
  verifyTable("generator", generatorBytes);

  /** Formats a table like the formatter. */
  const formatTable = (values: readonly string[]) => {
    let lines = "";
    let line = "   ";
    for (const value of values) {
      if (line.length + value.length + 2 > 120) {
        lines += `${line}\n`;
        line = "   ";
      }
      line += ` ${value},`;
    }
    return `(\n  [\n${lines}${line}\n  ],\n  16,\n)`;
  };
  const float64Literals = (values: readonly number[]) => {
    const bytes = new DataView(toFloat64Bytes(values).buffer);
    return values.map(
      (_, i) =>
        `0x${bytes
          .getBigUint64(i * 8, true)
          .toString(16)
          .padStart(16, "0")}`,
    );
  };
  const toDecimals = (values: Iterable<number>) => Array.from(values, String);
  return `// Written by engine/tables/generate.ts, which checks each table's hash. Do not edit.

/** cos(πj / 256), j = 0 … 128, as the bits of float64. */
export const COSINES: usize = memory.data<u64>${formatTable(float64Literals(computeCosines(256)))};

/** cos(πj / 96), j = 0 … 48, as the bits of float64. */
export const COARSE_COSINES: usize = memory.data<u64>${formatTable(float64Literals(computeCosines(96)))};

/** v, u of member 0, v, u of member 1, for each of 2047 buckets. */
export const BUCKET_POSITIONS: usize = memory.data<u8>${formatTable(toDecimals(buckets))};

/** α^i, i = 0 … 2046, in GF(2^11) modulo x^11 + x^2 + 1. */
export const ALPHA_POWERS: usize = memory.data<u16>${formatTable(toDecimals(alphaPowers))};

/** The generator of the code without its leading 1 (x^682): 682 bits in 88 bytes, lowest first. */
export const GENERATOR: usize = memory.data<u8>${formatTable(toDecimals([...generatorBytes.slice(0, 85), (generatorBytes[85] ?? 0) & 3, 0, 0]))};
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL("../assembly/tables.ts", import.meta.url), generateTablesSource());
}
