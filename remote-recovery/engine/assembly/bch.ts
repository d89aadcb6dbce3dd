/** BCH code [2047, 1365, t = 68] over GF(2^11). */
import {
  BUCKET_COUNT,
  DIFFERENCE,
  ERRORS,
  EXP,
  LOCATOR,
  LOG,
  PREVIOUS_LOCATOR,
  REMAINDER,
  ROOT_LOGS,
  SAVED_LOCATOR,
  SYNDROMES,
} from "./memory";
import { GENERATOR } from "./tables";
import { bitAt, setBit } from "./bits";

const ORDER: i32 = 2047;
const T: i32 = 68;
const SYNDROME_BITS: i32 = 682;
const REMAINDER_WORDS: i32 = 11; // 682 bits in 64-bit words; the top bit is bit 41 of the last

/** w(x) mod g(x): 2047 bits in, 86 bytes (and two zero ones) out. */
export function syndromeOf(word: usize, out: usize): void {
  memory.fill(REMAINDER, 0, <usize>REMAINDER_WORDS << 3);
  for (let i = BUCKET_COUNT - 1; i >= 0; i--) {
    let carry = <u64>bitAt(word, i);
    const top = (load<u64>(REMAINDER + 80) >> 41) & 1;
    const mask = <u64>0 - top;
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
 * Looks for the at most 68 errors whose syndrome DIFFERENCE holds, and leaves them as bits in
 * ERRORS. Their number, or −1 when there are none such: the locator is too long, has other than
 * that many roots, or the errors have another syndrome.
 */
export function decodeDifference(): i32 {
  memory.fill(ERRORS, 0, 256);
  computePowerSums();
  const length = findLocator();
  if (length > T) return -1;
  const roots = findRoots(length);
  if (roots != length) return -1;
  memory.copy(LOCATOR, DIFFERENCE, 88); // the locator is done with
  syndromeOf(ERRORS, DIFFERENCE);
  for (let k: usize = 0; k < 88; k++) {
    if (load<u8>(DIFFERENCE + k) != load<u8>(LOCATOR + k)) return -1;
  }
  return length;
}

// @ts-ignore: decorator
@inline
function exp(i: i32): u16 {
  return load<u16>(EXP + (<usize>i << 1)); // 0 ≤ i < 4094
}

// @ts-ignore: decorator
@inline
function log(value: u16): i32 {
  return <i32>load<u16>(LOG + (<usize>value << 1)); // 1 ≤ value < 2048
}

function multiply(a: u16, b: u16): u16 {
  return a == 0 || b == 0 ? 0 : exp(log(a) + log(b));
}

// @ts-ignore: decorator
@inline
function get(list: usize, i: i32): u16 {
  return load<u16>(list + (<usize>i << 1));
}

// @ts-ignore: decorator
@inline
function set(list: usize, i: i32, value: u16): void {
  store<u16>(list + (<usize>i << 1), value);
}

/** S_j = d(α^j), j = 1 … 136; the even ones are squares, as d has coefficients 0 and 1. */
function computePowerSums(): void {
  for (let j = 1; j < 2 * T; j += 2) {
    let sum: u16 = 0;
    let power = 0; // i·j mod 2047
    for (let i = 0; i < SYNDROME_BITS; i++) {
      if (bitAt(DIFFERENCE, i)) sum ^= exp(power);
      power += j;
      if (power >= ORDER) power -= ORDER;
    }
    set(SYNDROMES, j, sum);
  }
  for (let j = 2; j <= 2 * T; j += 2) {
    const halfIndexSum = get(SYNDROMES, j >> 1);
    set(SYNDROMES, j, multiply(halfIndexSum, halfIndexSum));
  }
}

/** Berlekamp–Massey: LOCATOR, low power first; its length. */
function findLocator(): i32 {
  memory.fill(LOCATOR, 0, 280);
  memory.fill(PREVIOUS_LOCATOR, 0, 280);
  set(LOCATOR, 0, 1);
  set(PREVIOUS_LOCATOR, 0, 1);
  let length = 0;
  let shift = 1;
  let lastDiscrepancy: u16 = 1;
  for (let n = 0; n < 2 * T; n++) {
    let discrepancy = get(SYNDROMES, n + 1);
    for (let i = 1; i <= length; i++) discrepancy ^= multiply(get(LOCATOR, i), get(SYNDROMES, n + 1 - i));
    if (discrepancy != 0) {
      const grows = 2 * length <= n;
      if (grows) memory.copy(SAVED_LOCATOR, LOCATOR, 280);
      const factor = exp(log(discrepancy) + ORDER - log(lastDiscrepancy));
      for (let i = 0; i + shift <= 2 * T; i++) {
        set(LOCATOR, i + shift, get(LOCATOR, i + shift) ^ multiply(factor, get(PREVIOUS_LOCATOR, i)));
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

/** Chien search: sets bit i of ERRORS where the locator is 0 at α^−i. How many. */
function findRoots(length: i32): i32 {
  const NONE: u16 = 0xffff;
  for (let j = 0; j <= length; j++) {
    const coefficient = get(LOCATOR, j);
    set(ROOT_LOGS, j, coefficient == 0 ? NONE : <u16>log(coefficient));
  }
  let rootCount = 0;
  for (let i = 0; i < ORDER; i++) {
    let value: u16 = 0;
    for (let j = 0; j <= length; j++) {
      const logarithm = get(ROOT_LOGS, j);
      if (logarithm == NONE) continue;
      value ^= exp(<i32>logarithm);
      const nextLogarithm = <i32>logarithm - j;
      set(ROOT_LOGS, j, <u16>(nextLogarithm < 0 ? nextLogarithm + ORDER : nextLogarithm));
    }
    if (value == 0) {
      setBit(ERRORS, i);
      rootCount++;
    }
  }
  return rootCount;
}
