/**
 * Writes assembly/tables.ts: the constants of profile RIE-1, computed here from their definitions
 * with integers only and checked against the hashes that the profile fixes. Run it with `node
 * remote-recovery/engine/tables/generate.ts`.
 */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const hashes = {
  buckets: "9e2db6b60e7bfb38bcc5c02ad16b55ff3ca388f028fedf6f7735eeaa0452ca98",
  dct: "8f24b3d4f010e5b0b227fbe3bc2a009dff478c4b72d0564b515a9e5bf9a766bf",
  coarseDct: "5a402e78f62267cfcb930c4009cb5231b027a45c60916c57e5704b1ee4cba6c1",
  powers: "0cabd1e3237b26c9bcaad1ddfb0d660fa4c43535de3a86ce1b1130beebc967dc",
  generator: "9e040831d879dc257fc3efc5098058e25459131feca98be8f18e6729287a7a71",
};

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

function check(name: keyof typeof hashes, bytes: Uint8Array): void {
  if (sha256(bytes) !== hashes[name]) throw new Error(`the ${name} table is not that of RIE-1`);
}

/** One float64 per number, little-endian. */
function toFloat64Bytes(values: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 8));
  values.forEach((value, index) => {
    view.setFloat64(index * 8, value, true);
  });
  return new Uint8Array(view.buffer);
}

/**
 * cos(πj / half) for j = 0 … half/2, each the nearest float64: a Taylor series in fixed point with
 * 256 fractional bits.
 */
export function cosines(half: number): number[] {
  const bits = 256n;
  const one = 1n << bits;
  const pi = machinPi(bits);
  return Array.from({ length: half / 2 + 1 }, (_, j) => {
    if (2 * j === half) return 0;
    const angle = (pi * BigInt(j)) / BigInt(half);
    const squared = (angle * angle) >> bits;
    let term = one;
    let sum = one;
    for (let k = 2n; term !== 0n; k += 2n) {
      term = -((term * squared) >> bits) / (k * (k - 1n));
      sum += term;
    }
    return Number(sum) / 2 ** 256; // Number() rounds to the nearest; the division is exact
  });
}

/** π in fixed point: 16·atan(1/5) − 4·atan(1/239), with guard bits. */
function machinPi(bits: bigint): bigint {
  const guard = 32n;
  const arctangentOfInverse = (x: bigint) => {
    let power = (1n << (bits + guard)) / x;
    let sum = power;
    for (let k = 3n, sign = -1n; power !== 0n; k += 2n, sign = -sign) {
      power /= x * x;
      sum += (sign * power) / k;
    }
    return sum;
  };
  return (16n * arctangentOfInverse(5n) - 4n * arctangentOfInverse(239n)) >> guard;
}

/**
 * Orthonormal DCT-II, row by row, from the cosines by symmetry: what assembly/expand-tables.ts
 * does, for the hash.
 */
export function dctTable(rows: number, n: number): number[] {
  const half = 2 * n;
  const base = cosines(half);
  const out: number[] = [];
  for (let k = 0; k < rows; k++) {
    const scale = Math.sqrt((k === 0 ? 1 : 2) / n);
    for (let i = 0; i < n; i++) {
      let m = (k * (2 * i + 1)) % (2 * half);
      m = Math.min(m, 2 * half - m);
      out.push((m <= half / 2 ? elementAt(base, m) : -elementAt(base, half - m)) * scale);
    }
  }
  return out;
}

/** v, u of member 0, v, u of member 1, bucket after bucket: 8188 numbers below 80. */
export function bucketTable(): number[] {
  const positions: { r2: number; v: number; u: number }[] = [];
  for (let v = 2; v < 80; v++)
    for (let u = 2; u < 80; u++) if (u * u + v * v >= 25) positions.push({ r2: u * u + v * v, v, u });
  positions.sort((a, b) => a.r2 - b.r2 || a.v - b.v || a.u - b.u);
  const used = positions.slice(0, 2 * 2047);
  let x = 1;
  for (let start = 0; start < used.length; start += 128) {
    const size = Math.min(128, used.length - start);
    for (let k = size - 1; k > 0; k--) {
      x = (Math.imul(1664525, x) + 1013904223) >>> 0;
      const j = (x >>> 8) % (k + 1);
      const swapped = elementAt(used, start + k);
      used[start + k] = elementAt(used, start + j);
      used[start + j] = swapped;
    }
  }
  return used.flatMap(({ v, u }) => [v, u]);
}

/** α^i for i = 0 … 2046 in GF(2^11) modulo x^11 + x^2 + 1. */
export function powers(): number[] {
  const out: number[] = [];
  for (let i = 0, x = 1; i < 2047; i++) {
    out.push(x);
    x <<= 1;
    if (x & 2048) x ^= 0x805;
  }
  return out;
}

/**
 * g(x), the product of the minimal polynomials of α^1 … α^136: bit i is the coefficient of x^i,
 * degree 682.
 */
export function generatorPolynomial(): bigint {
  const exp = powers();
  const log = new Map(exp.map((value, index) => [value, index]));
  const multiply = (a: number, b: number) =>
    a === 0 || b === 0 ? 0 : elementAt(exp, ((log.get(a) ?? 0) + (log.get(b) ?? 0)) % 2047);
  const covered = new Set<number>();
  let g = 1n;
  for (let j = 1; j < 136; j += 2) {
    if (covered.has(j)) continue;
    let minimal = [1]; // low power first
    for (let i = j; !covered.has(i); i = (2 * i) % 2047) {
      covered.add(i);
      const root = elementAt(exp, i);
      minimal = [...minimal, 0].map((_, k) => multiply(minimal[k] ?? 0, root) ^ (minimal[k - 1] ?? 0));
    }
    let product = 0n;
    minimal.forEach((coefficient, k) => {
      if (coefficient === 1) product ^= g << BigInt(k);
    });
    g = product;
  }
  return g;
}

function elementAt<T>(list: readonly T[], index: number): T {
  const value = list[index];
  if (value === undefined) throw new Error("index outside the table");
  return value;
}

/**
 * The text of assembly/tables.ts. Throws when a table does not have the hash that the profile
 * fixes.
 */
export function tablesSource(): string {
  const buckets = bucketTable();
  const field = powers();
  const g = generatorPolynomial();
  const generatorBytes = Uint8Array.from({ length: 86 }, (_, i) => Number((g >> BigInt(8 * i)) & 255n));
  check("buckets", Uint8Array.from(buckets));
  check("dct", toFloat64Bytes(dctTable(80, 128)));
  check("coarseDct", toFloat64Bytes(dctTable(24, 48)));
  check("powers", new Uint8Array(Uint16Array.from(field).buffer));
  check("generator", generatorBytes);

  /** As the formatter would lay it out, so that it finds nothing to change. */
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
export const COSINES: usize = memory.data<u64>${formatTable(float64Literals(cosines(256)))};

/** cos(πj / 96), j = 0 … 48, as the bits of float64. */
export const COARSE_COSINES: usize = memory.data<u64>${formatTable(float64Literals(cosines(96)))};

/** v, u of member 0, v, u of member 1, for each of 2047 buckets. */
export const BUCKETS: usize = memory.data<u8>${formatTable(toDecimals(buckets))};

/** α^i, i = 0 … 2046, in GF(2^11) modulo x^11 + x^2 + 1. */
export const POWERS: usize = memory.data<u16>${formatTable(toDecimals(field))};

/** The generator of the code without its leading 1 (x^682): 682 bits in 88 bytes, lowest first. */
export const GENERATOR: usize = memory.data<u8>${formatTable(toDecimals([...generatorBytes.slice(0, 85), (generatorBytes[85] ?? 0) & 3, 0, 0]))};
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL("../assembly/tables.ts", import.meta.url), tablesSource());
}
