/** BCH code [2047, 1365, t = 68] over GF(2^11). */
import {
  BUCKET_COUNT,
  SYNDROME_DIFFERENCE,
  ERRORS,
  GF_EXP,
  LOCATOR,
  GF_LOG,
  PREVIOUS_LOCATOR,
  REMAINDER,
  ROOT_LOGS,
  SAVED_LOCATOR,
  SYNDROMES,
} from "./memory";
import { GENERATOR } from "./tables";
import { getBit, setBit } from "./bits";

const GROUP_ORDER: i32 = 2047;
const MAX_ERRORS: i32 = 68;
const SYNDROME_BITS: i32 = 682;
const REMAINDER_WORDS: i32 = 11; // 682 bits in 64-bit words; the top bit is bit 41 of the last

/** Computes w(x) mod g(x). Reads 2047 bits; writes 86 bytes and two zero bytes. */
export function computeSyndrome(word: usize, out: usize): void {
  memory.fill(REMAINDER, 0, <usize>REMAINDER_WORDS << 3);
  for (let i = BUCKET_COUNT - 1; i >= 0; i--) {
    let carry = <u64>getBit(word, i);
    const topBit = (load<u64>(REMAINDER + 80) >> 41) & 1;
    const mask = <u64>0 - topBit;
    for (let k: usize = 0; k < 88; k += 8) {
      const value = load<u64>(REMAINDER + k);
      store<u64>(REMAINDER + k, ((value << 1) | carry) ^ (load<u64>(GENERATOR + k) & mask));
      carry = value >> 63;
    }
    store<u64>(REMAINDER + 80, load<u64>(REMAINDER + 80) & 0x3ffffffffff);
  }
  memory.copy(out, REMAINDER, 88);
  memory.fill(REMAINDER, 0, 88);
}

/**
 * Decodes SYNDROME_DIFFERENCE to error bits in ERRORS. Returns the number of errors, at most 68.
 * Returns −1 if the locator is too long, the number of its roots differs from its length, or the
 * errors do not give the syndrome.
 */
export function decodeDifference(): i32 {
  memory.fill(ERRORS, 0, 256);
  computePowerSums();
  const length = findLocator();
  if (length > MAX_ERRORS) return -1;
  const roots = findRoots(length);
  if (roots != length) return -1;
  memory.copy(LOCATOR, SYNDROME_DIFFERENCE, 88); // LOCATOR is no longer needed
  computeSyndrome(ERRORS, SYNDROME_DIFFERENCE);
  for (let k: usize = 0; k < 88; k++) {
    if (load<u8>(SYNDROME_DIFFERENCE + k) != load<u8>(LOCATOR + k)) return -1;
  }
  return length;
}

// @ts-ignore: decorator
@inline
function gfExp(i: i32): u16 {
  return load<u16>(GF_EXP + (<usize>i << 1)); // 0 ≤ i < 4094
}

// @ts-ignore: decorator
@inline
function gfLog(value: u16): i32 {
  return <i32>load<u16>(GF_LOG + (<usize>value << 1)); // 1 ≤ value < 2048
}

function gfMultiply(a: u16, b: u16): u16 {
  return a == 0 || b == 0 ? 0 : gfExp(gfLog(a) + gfLog(b));
}

// @ts-ignore: decorator
@inline
function readElement(address: usize, i: i32): u16 {
  return load<u16>(address + (<usize>i << 1));
}

// @ts-ignore: decorator
@inline
function writeElement(address: usize, i: i32, value: u16): void {
  store<u16>(address + (<usize>i << 1), value);
}

/**
 * Computes S_j = d(α^j) for j = 1 … 136. Even ones are squares, since all coefficients of d are 0
 * or 1.
 */
function computePowerSums(): void {
  for (let j = 1; j < 2 * MAX_ERRORS; j += 2) {
    let powerSum: u16 = 0;
    let power = 0; // i·j mod 2047
    for (let i = 0; i < SYNDROME_BITS; i++) {
      if (getBit(SYNDROME_DIFFERENCE, i)) powerSum ^= gfExp(power);
      power += j;
      if (power >= GROUP_ORDER) power -= GROUP_ORDER;
    }
    writeElement(SYNDROMES, j, powerSum);
  }
  for (let j = 2; j <= 2 * MAX_ERRORS; j += 2) {
    const halfIndexSum = readElement(SYNDROMES, j >> 1);
    writeElement(SYNDROMES, j, gfMultiply(halfIndexSum, halfIndexSum));
  }
}

/** Berlekamp–Massey: fills LOCATOR, low power first, and returns its length. */
function findLocator(): i32 {
  memory.fill(LOCATOR, 0, 280);
  memory.fill(PREVIOUS_LOCATOR, 0, 280);
  writeElement(LOCATOR, 0, 1);
  writeElement(PREVIOUS_LOCATOR, 0, 1);
  let length = 0;
  let shift = 1;
  let lastDiscrepancy: u16 = 1;
  for (let n = 0; n < 2 * MAX_ERRORS; n++) {
    let discrepancy = readElement(SYNDROMES, n + 1);
    for (let i = 1; i <= length; i++)
      discrepancy ^= gfMultiply(readElement(LOCATOR, i), readElement(SYNDROMES, n + 1 - i));
    if (discrepancy != 0) {
      const grows = 2 * length <= n;
      if (grows) memory.copy(SAVED_LOCATOR, LOCATOR, 280);
      const factor = gfExp(gfLog(discrepancy) + GROUP_ORDER - gfLog(lastDiscrepancy));
      for (let i = 0; i + shift <= 2 * MAX_ERRORS; i++) {
        const correction = gfMultiply(factor, readElement(PREVIOUS_LOCATOR, i));
        writeElement(LOCATOR, i + shift, readElement(LOCATOR, i + shift) ^ correction);
      }
      if (grows) {
        memory.copy(PREVIOUS_LOCATOR, SAVED_LOCATOR, 280);
        length = n + 1 - length;
        lastDiscrepancy = discrepancy;
        shift = 0;
      }
    }
    shift++;
  }
  return length;
}

/**
 * Chien search: sets bit i of ERRORS where the locator is 0 at α^−i. Returns the number of roots.
 */
function findRoots(length: i32): i32 {
  const NO_LOGARITHM: u16 = 0xffff;
  for (let j = 0; j <= length; j++) {
    const coefficient = readElement(LOCATOR, j);
    writeElement(ROOT_LOGS, j, coefficient == 0 ? NO_LOGARITHM : <u16>gfLog(coefficient));
  }
  let rootCount = 0;
  for (let i = 0; i < GROUP_ORDER; i++) {
    let value: u16 = 0;
    for (let j = 0; j <= length; j++) {
      const logarithm = readElement(ROOT_LOGS, j);
      if (logarithm == NO_LOGARITHM) continue;
      value ^= gfExp(<i32>logarithm);
      const nextLogarithm = <i32>logarithm - j;
      writeElement(ROOT_LOGS, j, <u16>(nextLogarithm < 0 ? nextLogarithm + GROUP_ORDER : nextLogarithm));
    }
    if (value == 0) {
      setBit(ERRORS, i);
      rootCount++;
    }
  }
  return rootCount;
}
