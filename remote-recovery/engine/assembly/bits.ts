import { AT, BUCKET_COUNT, CHOICE_BYTES, COEFFICIENTS, FOLDED_AT, FOLDED_TRANSPOSED_AT, TRANSPOSED_AT } from "./memory";
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
  const place = bits + <usize>(i >> 3);
  store<u8>(place, load<u8>(place) | <u8>(<u32>1 << <u32>(i & 7)));
}

// @ts-ignore: decorator
@inline
export function coefficientOf(table: usize, bucket: i32, member: i32): f64 {
  return load<f64>(COEFFICIENTS + (<usize>load<u16>(table + (<usize>bucket << 2) + (<usize>member << 1)) << 3));
}

/**
 * Choice bits of COEFFICIENTS: 1 where the second member is strictly larger in magnitude (step 9).
 */
export function choiceBits(out: usize): void {
  memory.fill(out, 0, CHOICE_BYTES);
  for (let i = 0; i < BUCKET_COUNT; i++) {
    if (abs(coefficientOf(AT, i, 1)) > abs(coefficientOf(AT, i, 0))) setBit(out, i);
  }
}

/**
 * Secret bits of COEFFICIENTS under choice bits: 1 where the chosen coefficient times (−1)^(a·u +
 * b·v) is negative, u and v being the enrolled position. With `transposed`, the coefficient is read
 * at [u][v].
 */
export function secretBits(choice: usize, transposed: bool, a: i32, b: i32, out: usize): void {
  memory.fill(out, 0, CHOICE_BYTES);
  const table = transposed ? TRANSPOSED_AT : AT;
  for (let i = 0; i < BUCKET_COUNT; i++) {
    const member = bitAt(choice, i);
    const place = BUCKETS + (<usize>i << 2) + (<usize>member << 1);
    const v = <i32>load<u8>(place);
    const u = <i32>load<u8>(place, 1);
    const turned = (a * u + b * v) & 1;
    const c = coefficientOf(table, i, member);
    if (turned ? c > 0.0 : c < 0.0) setBit(out, i); // a coefficient of 0 gives 0 in both cases
  }
}

/**
 * How well choice bits fit COEFFICIENTS: mean over the buckets of (2·|chosen| − Σ) / (Σ + 1e-9), −1
 * … 1.
 */
export function beacon(choice: usize, transposed: bool): f64 {
  return beaconIn(transposed ? TRANSPOSED_AT : AT, choice);
}

/** The same in folded coefficients. */
export function foldedBeacon(choice: usize, transposed: bool): f64 {
  return beaconIn(transposed ? FOLDED_TRANSPOSED_AT : FOLDED_AT, choice);
}

function beaconIn(table: usize, choice: usize): f64 {
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
