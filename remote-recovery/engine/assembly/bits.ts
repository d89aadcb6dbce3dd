import {
  BUCKET_COUNT,
  BUCKET_INDEX,
  CHOICE_BYTES,
  COEFFICIENTS,
  FOLDED_INDEX,
  FOLDED_TRANSPOSED_INDEX,
  TRANSPOSED_INDEX,
} from "./memory";
import { BUCKETS } from "./tables";

/** Bit i of a bit string: bit i mod 8 of byte ⌊i/8⌋. */
// @ts-ignore: decorator
@inline
export function bitAt(bits: usize, i: i32): i32 {
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
export function coefficientOf(table: usize, bucket: i32, member: i32): f64 {
  return load<f64>(COEFFICIENTS + (<usize>load<u16>(table + (<usize>bucket << 2) + (<usize>member << 1)) << 3));
}

/**
 * Choice bits of COEFFICIENTS: 1 where the second member is strictly larger in magnitude (step 9).
 */
export function extractChoiceBits(out: usize): void {
  memory.fill(out, 0, CHOICE_BYTES);
  for (let i = 0; i < BUCKET_COUNT; i++) {
    if (abs(coefficientOf(BUCKET_INDEX, i, 1)) > abs(coefficientOf(BUCKET_INDEX, i, 0))) setBit(out, i);
  }
}

/**
 * Secret bits of COEFFICIENTS under choice bits: 1 where the chosen coefficient times (−1)^(a·u +
 * b·v) is negative, u and v being the enrolled position. With `transposed`, the coefficient is read
 * at [u][v].
 */
export function extractSecretBits(choice: usize, transposed: bool, a: i32, b: i32, out: usize): void {
  memory.fill(out, 0, CHOICE_BYTES);
  const table = transposed ? TRANSPOSED_INDEX : BUCKET_INDEX;
  for (let i = 0; i < BUCKET_COUNT; i++) {
    const member = bitAt(choice, i);
    const address = BUCKETS + (<usize>i << 2) + (<usize>member << 1);
    const v = <i32>load<u8>(address);
    const u = <i32>load<u8>(address, 1);
    const negated = (a * u + b * v) & 1;
    const c = coefficientOf(table, i, member);
    if (negated ? c > 0.0 : c < 0.0) setBit(out, i); // a coefficient of 0 gives 0 in both cases
  }
}

/**
 * How well choice bits fit COEFFICIENTS: mean over the buckets of (2·|chosen| − Σ) / (Σ + 1e-9), −1
 * … 1.
 */
export function beaconScore(choice: usize, transposed: bool): f64 {
  return beaconScoreIn(transposed ? TRANSPOSED_INDEX : BUCKET_INDEX, choice);
}

/** The same in folded coefficients. */
export function foldedBeaconScore(choice: usize, transposed: bool): f64 {
  return beaconScoreIn(transposed ? FOLDED_TRANSPOSED_INDEX : FOLDED_INDEX, choice);
}

function beaconScoreIn(table: usize, choice: usize): f64 {
  let total = 0.0;
  for (let i = 0; i < BUCKET_COUNT; i++) {
    const first = abs(coefficientOf(table, i, 0));
    const second = abs(coefficientOf(table, i, 1));
    const sum = first + second;
    const chosen = bitAt(choice, i) ? second : first;
    total += (2.0 * chosen - sum) / (sum + 1e-9);
  }
  return total / <f64>BUCKET_COUNT;
}
