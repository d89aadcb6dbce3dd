import { opendir, readFile } from "node:fs/promises";
import path from "node:path";

/** A text (searched exactly), or data of which no 32-byte run may appear. */
export type Needle =
  | { readonly name: string; readonly kind: "text"; readonly bytes: Uint8Array }
  | { readonly name: string; readonly kind: "runs"; readonly bytes: Uint8Array };

export interface Finding {
  readonly needle: string;
  readonly where: string;
  readonly encoding: "raw" | "base64" | "base64url" | "hex";
  readonly offset: number;
}

/** Shorter runs, or runs with fewer different byte values, occur everywhere. */
const RUN_LENGTH = 32;
const MIN_DISTINCT_VALUES = 12;
/** Every run of 32 bytes contains a whole block of 16 at a multiple of 16 in the needle. */
const BLOCK_LENGTH = 16;

/**
 * Searches bytes for needles: raw, and inside every stretch of base64, base64url (at all offsets)
 * and hex.
 *
 * [Note: Searching for runs] The blocks of 16 bytes at multiples of 16 of each needle are indexed
 * by their hash. A rolling hash runs over the searched bytes; at a hit the common run around it is
 * measured, and counts when it is at least 32 bytes long with at least 12 different values.
 */
export class ByteSearch {
  readonly #texts: readonly Needle[];
  readonly #blocks = new Map<number, { needle: Needle; position: number }[]>();
  readonly #filter = new Uint8Array(1 << 21); // 2^24 bits

  constructor(needles: readonly Needle[]) {
    this.#texts = needles.filter(({ kind }) => kind === "text");
    for (const needle of needles) if (needle.kind === "runs") this.#index(needle);
  }

  search(bytes: Uint8Array, where: string): Finding[] {
    const findings = this.#scan(bytes).map(([needle, offset]): Finding => ({ needle, where, encoding: "raw", offset }));
    for (const { encoding, start, decoded } of findEncodedStretches(bytes)) {
      for (const [needle] of this.#scan(decoded)) findings.push({ needle, where, encoding, offset: start });
    }
    return findings;
  }

  /** Searches every file below a folder; a file that vanishes meanwhile is skipped. */
  async searchFolder(folder: string): Promise<{ findings: Finding[]; files: number; bytes: number }> {
    const findings: Finding[] = [];
    let files = 0;
    let bytes = 0;
    for await (const entry of await opendir(folder, { recursive: true })) {
      if (!entry.isFile()) continue;
      const file = path.join(entry.parentPath, entry.name);
      const content = await readFile(file).catch((error: unknown) => {
        if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
        throw error;
      });
      if (content === null) continue;
      files += 1;
      bytes += content.length;
      findings.push(...this.search(content, path.relative(folder, file)));
    }
    return { findings, files, bytes };
  }

  #index(needle: Needle): void {
    for (let position = 0; position + BLOCK_LENGTH <= needle.bytes.length; position += BLOCK_LENGTH) {
      const block = needle.bytes.subarray(position, position + BLOCK_LENGTH);
      if (!hasEnoughDistinctValues(needle.bytes, position - (RUN_LENGTH - BLOCK_LENGTH), position + RUN_LENGTH))
        continue; // no run around it counts
      const hash = hashBlock(block);
      this.#filter[(hash >>> 3) & 0x1fffff] = (this.#filter[(hash >>> 3) & 0x1fffff] ?? 0) | (1 << (hash & 7));
      const positions = this.#blocks.get(hash);
      if (positions === undefined) this.#blocks.set(hash, [{ needle, position }]);
      else positions.push({ needle, position });
    }
  }

  #scan(bytes: Uint8Array): [needle: string, offset: number][] {
    const hits: [string, number][] = [];
    for (const text of this.#texts) {
      const offset = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(text.bytes);
      if (offset >= 0) hits.push([text.name, offset]);
    }
    if (this.#blocks.size === 0 || bytes.length < RUN_LENGTH) return hits;
    const filter = this.#filter;
    const foundNeedles = new Set<string>();
    let hash = hashBlock(bytes.subarray(0, BLOCK_LENGTH));
    for (let end = BLOCK_LENGTH; ; end++) {
      // Long flat stretches match flat blocks of the needles at every byte. Their neighbours rule
      // these hits out at once.
      if (
        ((filter[(hash >>> 3) & 0x1fffff] ?? 0) & (1 << (hash & 7))) !== 0 &&
        hasEnoughDistinctValues(bytes, end - RUN_LENGTH, end + BLOCK_LENGTH)
      ) {
        for (const { needle, position } of this.#blocks.get(hash) ?? []) {
          if (!foundNeedles.has(needle.name) && isSignificantRun(needle.bytes, position, bytes, end - BLOCK_LENGTH)) {
            foundNeedles.add(needle.name);
            hits.push([needle.name, end - BLOCK_LENGTH]);
          }
        }
      }
      if (end >= bytes.length) return hits;
      hash = (imul(hash, BASE) + (bytes[end] ?? 0) - imul(bytes[end - BLOCK_LENGTH] ?? 0, LEAVING_FACTOR)) >>> 0;
    }
  }
}

const seenInScan = new Uint32Array(256);
let scanNumber = 0;

/** Whether the bytes from `from` to before `to`, clipped, have at least 12 different values. */
function hasEnoughDistinctValues(bytes: Uint8Array, from: number, to: number): boolean {
  scanNumber += 1;
  let distinctCount = 0;
  for (let position = Math.max(0, from); position < Math.min(to, bytes.length); position++) {
    const value = bytes[position] ?? 0;
    if (seenInScan[value] === scanNumber) continue;
    seenInScan[value] = scanNumber;
    distinctCount += 1;
    if (distinctCount === MIN_DISTINCT_VALUES) return true;
  }
  return false;
}

const imul = Math.imul; // looked up once: the loop runs over hundreds of megabytes
const BASE = 0x01000193;
const LEAVING_FACTOR = power(BASE, BLOCK_LENGTH);

function power(base: number, exponent: number): number {
  let result = 1;
  for (let i = 0; i < exponent; i++) result = imul(result, base);
  return result;
}

function hashBlock(block: Uint8Array): number {
  let hash = 0;
  for (const byte of block) hash = (imul(hash, BASE) + byte) >>> 0;
  return hash;
}

/**
 * Whether the bytes around needle[position] and bytes[offset] agree over a run of 32 with 12
 * different values.
 */
function isSignificantRun(needle: Uint8Array, position: number, bytes: Uint8Array, offset: number): boolean {
  let matchingBefore = 0;
  while (
    matchingBefore < RUN_LENGTH &&
    position - matchingBefore > 0 &&
    offset - matchingBefore > 0 &&
    needle[position - matchingBefore - 1] === bytes[offset - matchingBefore - 1]
  )
    matchingBefore += 1;
  let matchingAfter = 0;
  while (
    matchingAfter < RUN_LENGTH &&
    position + matchingAfter < needle.length &&
    offset + matchingAfter < bytes.length &&
    needle[position + matchingAfter] === bytes[offset + matchingAfter]
  )
    matchingAfter += 1;
  for (let start = position - matchingBefore; start + RUN_LENGTH <= position + matchingAfter; start++) {
    if (hasEnoughDistinctValues(needle, start, start + RUN_LENGTH)) return true;
  }
  return false;
}

const alphabets = {
  base64: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
  base64url: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
  hex: "0123456789abcdef",
} as const;

const decodingTables = {
  base64: buildDecodingTable(alphabets.base64),
  base64url: buildDecodingTable(alphabets.base64url),
  hex: buildDecodingTable(alphabets.hex, alphabets.hex.toUpperCase()),
};

function buildDecodingTable(...alphabetVariants: readonly string[]): Int8Array {
  const table = new Int8Array(256).fill(-1);
  for (const alphabet of alphabetVariants) for (let i = 0; i < alphabet.length; i++) table[alphabet.charCodeAt(i)] = i;
  return table;
}

/** Shortest stretch worth decoding: what a text of 12 bytes needs. */
const MIN_ENCODED_LENGTH = 16;

/** Every stretch of encoded text, decoded from each position at which a group could begin. */
function* findEncodedStretches(
  bytes: Uint8Array,
): Generator<{ encoding: Finding["encoding"]; start: number; decoded: Uint8Array }> {
  for (const encoding of ["base64", "base64url", "hex"] as const) {
    const table = decodingTables[encoding];
    for (let start = 0; start < bytes.length;) {
      if ((table[bytes[start] ?? 0] ?? -1) < 0) {
        start += 1;
        continue;
      }
      let end = start + 1;
      while (end < bytes.length && (table[bytes[end] ?? 0] ?? -1) >= 0) end += 1;
      if (end - start >= MIN_ENCODED_LENGTH) {
        const digits = bytes.subarray(start, end);
        for (let phase = 0; phase < (encoding === "hex" ? 2 : 4); phase++) {
          yield {
            encoding,
            start,
            decoded:
              encoding === "hex" ? decodeHex(digits.subarray(phase)) : decodeBase64(digits.subarray(phase), table),
          };
        }
      }
      start = end;
    }
  }
}

function decodeBase64(digits: Uint8Array, table: Int8Array): Uint8Array {
  const decodedBytes = new Uint8Array(Math.floor((digits.length * 6) / 8));
  let buffer = 0;
  let bits = 0;
  let position = 0;
  for (const digit of digits) {
    buffer = ((buffer << 6) | (table[digit] ?? 0)) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      decodedBytes[position++] = (buffer >> bits) & 0xff;
    }
  }
  return decodedBytes;
}

function decodeHex(digits: Uint8Array): Uint8Array {
  const decodedBytes = new Uint8Array(digits.length >> 1);
  for (let i = 0; i < decodedBytes.length; i++)
    decodedBytes[i] =
      ((decodingTables.hex[digits[2 * i] ?? 0] ?? 0) << 4) | (decodingTables.hex[digits[2 * i + 1] ?? 0] ?? 0);
  return decodedBytes;
}
