import {
  BUCKET_COUNT,
  COEFFICIENT_INDICES,
  CHOICE_BYTES,
  COEFFICIENTS,
  FOLDED_COEFFICIENT_INDICES,
  FOLDED_TRANSPOSED_COEFFICIENT_INDICES,
  TRANSPOSED_COEFFICIENT_INDICES,
} from "./memory";
import { BUCKET_POSITIONS } from "./tables";

/** Bit i of a bit string: bit i mod 8 of byte ⌊i/8⌋. */
// @ts-ignore: decorator
@inline
export function getBit(bits: usize, i: i32): i32 {
  return (load<u8>(bits + <usize>(i >> 3)) >> <u8>(i & 7)) & 1;
}

// @ts-ignore: decorator
@inline
export function setBit(bits: usize, i: i32): void {
  const address = bits + <usize>(i >> 3);
  store<u8>(address, load<u8>(address) | <u8>(<u32>1 << <u32>(i & 7)));
}

// @ts-ignore: decorator
@inline
export function readCoefficient(table: usize, bucket: i32, member: i32): f64 {
  return load<f64>(COEFFICIENTS + (<usize>load<u16>(table + (<usize>bucket << 2) + (<usize>member << 1)) << 3));
}

/** Choice bits of COEFFICIENTS: 1 where the second member is strictly larger in magnitude. */
export function extractChoiceBits(out: usize): void {
  memory.fill(out, 0, CHOICE_BYTES);
  for (let i = 0; i < BUCKET_COUNT; i++) {
    if (abs(readCoefficient(COEFFICIENT_INDICES, i, 1)) > abs(readCoefficient(COEFFICIENT_INDICES, i, 0)))
      setBit(out, i);
  }
}

/**
 * Extracts the secret bits of COEFFICIENTS: 1 where the chosen coefficient times (−1)^(a·u + b·v)
 * is negative. u and v are the position at enrolment; `transposed` reads the coefficient at [u][v].
 */
export function extractSecretBits(choice: usize, transposed: bool, a: i32, b: i32, out: usize): void {
  memory.fill(out, 0, CHOICE_BYTES);
  const table = transposed ? TRANSPOSED_COEFFICIENT_INDICES : COEFFICIENT_INDICES;
  for (let i = 0; i < BUCKET_COUNT; i++) {
    const member = getBit(choice, i);
    const address = BUCKET_POSITIONS + (<usize>i << 2) + (<usize>member << 1);
    const v = <i32>load<u8>(address);
    const u = <i32>load<u8>(address, 1);
    const negated = (a * u + b * v) & 1;
    const coefficient = readCoefficient(table, i, member);
    if (negated ? coefficient > 0.0 : coefficient < 0.0) setBit(out, i); // 0 gives bit 0 under both signs
  }
}

/**
 * Fit of choice bits to COEFFICIENTS, −1 … 1. Mean of (2·|chosen| − Σ) / (Σ + 1e-9) over the
 * buckets, where Σ is the sum of both magnitudes.
 */
export function computeBeaconScore(choice: usize, transposed: bool): f64 {
  return computeBeaconScoreFromTable(transposed ? TRANSPOSED_COEFFICIENT_INDICES : COEFFICIENT_INDICES, choice);
}

/** Like computeBeaconScore, for folded coefficients. */
export function computeFoldedBeaconScore(choice: usize, transposed: bool): f64 {
  return computeBeaconScoreFromTable(
    transposed ? FOLDED_TRANSPOSED_COEFFICIENT_INDICES : FOLDED_COEFFICIENT_INDICES,
    choice,
  );
}

function computeBeaconScoreFromTable(table: usize, choice: usize): f64 {
  let total = 0.0;
  for (let i = 0; i < BUCKET_COUNT; i++) {
    const firstMagnitude = abs(readCoefficient(table, i, 0));
    const secondMagnitude = abs(readCoefficient(table, i, 1));
    const sum = firstMagnitude + secondMagnitude;
    const chosenMagnitude = getBit(choice, i) ? secondMagnitude : firstMagnitude;
    total += (2.0 * chosenMagnitude - sum) / (sum + 1e-9);
  }
  return total / <f64>BUCKET_COUNT;
}
