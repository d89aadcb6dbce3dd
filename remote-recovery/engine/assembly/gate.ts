/**
 * Measures a picture for the quality gate, from GRID and COEFFICIENTS of the enrolment window. The
 * thresholds are in src/gate.ts.
 */
import {
  BAND_PASSED,
  BUCKET_COUNT,
  COEFFICIENT_INDICES,
  GRID_SIZE,
  COEFFICIENTS,
  CORNERS,
  DCT,
  DCT_TRANSPOSED,
  GRID,
  OUT_MEASURES,
  PARTIAL_PRODUCT,
  FREQUENCY_COUNT,
} from "./memory";
import { readCoefficient } from "./bits";
import { multiplyMatrices } from "./matrix";
import { BUCKET_POSITIONS } from "./tables";

/**
 * Writes to OUT_MEASURES: coverage, participation ratio (`spread`), median, 10th percentile
 * (`tenth`), kurtosis (`peak`), spectral slope and estimate.
 */
export function measureQuality(): void {
  memory.fill(OUT_MEASURES, 0, 56);
  const coverage = <f64>countTexturedBlocks() / 256.0;
  store<f64>(OUT_MEASURES, coverage);

  // Larger magnitude of each bucket's two coefficients, sorted, in the scratch area.
  const largerMagnitudes = CORNERS;
  for (let i = 0; i < BUCKET_COUNT; i++) store<f64>(largerMagnitudes + ((<usize>i) << 3), computeLargerMagnitude(i));
  sortNumbers(largerMagnitudes, BUCKET_COUNT);
  store<f64>(OUT_MEASURES, computeQuantile(largerMagnitudes, 0.5), 16);
  store<f64>(OUT_MEASURES, computeQuantile(largerMagnitudes, 0.1), 24);

  applyBandPass();
  let sumOfSquares = 0.0;
  let sumOfFourthPowers = 0.0;
  for (let i = 0; i < GRID_SIZE * GRID_SIZE; i++) {
    const value = load<f64>(BAND_PASSED + ((<usize>i) << 3));
    const square = value * value;
    sumOfSquares += square;
    sumOfFourthPowers += square * square;
  }
  const meanSquare = sumOfSquares / <f64>(GRID_SIZE * GRID_SIZE);
  if (meanSquare < 1e-6) return; // a flat picture: the other measures stay 0

  const participationRatio = computeParticipationRatio();
  const kurtosis = sumOfFourthPowers / <f64>(GRID_SIZE * GRID_SIZE) / (meanSquare * meanSquare);
  const slope = computeSpectralSlope();
  store<f64>(OUT_MEASURES, participationRatio, 8);
  store<f64>(OUT_MEASURES, kurtosis, 32);
  store<f64>(OUT_MEASURES, slope, 40);
  store<f64>(
    OUT_MEASURES,
    1.357 + 0.197 * coverage - 0.038 * Math.log(participationRatio + 1.0) - 0.156 * Math.log(kurtosis) + 0.289 * slope,
    48,
  );
}

function computeLargerMagnitude(bucket: i32): f64 {
  return max(
    abs(readCoefficient(COEFFICIENT_INDICES, bucket, 0)),
    abs(readCoefficient(COEFFICIENT_INDICES, bucket, 1)),
  );
}

/**
 * Counts the blocks of GRID, 256 of 8 × 8 cells, whose population standard deviation exceeds 3 grey
 * levels.
 */
function countTexturedBlocks(): i32 {
  let count = 0;
  for (let block = 0; block < 256; block++) {
    const blockStart = GRID + ((<usize>((block >> 4) * 8 * GRID_SIZE + (block & 15) * 8)) << 3);
    let sum = 0.0;
    for (let i = 0; i < 64; i++) sum += load<f64>(blockStart + ((<usize>((i >> 3) * GRID_SIZE + (i & 7))) << 3));
    const mean = sum / 64.0;
    let squaredDeviationSum = 0.0;
    for (let i = 0; i < 64; i++) {
      const deviation = load<f64>(blockStart + ((<usize>((i >> 3) * GRID_SIZE + (i & 7))) << 3)) - mean;
      squaredDeviationSum += deviation * deviation;
    }
    if (Math.sqrt(squaredDeviationSum / 64.0) > 3.0) count++;
  }
  return count;
}

/** BAND_PASSED = DCTᵀ·C·DCT, where C is COEFFICIENTS at 5² ≤ u² + v² ≤ 74² and 0 elsewhere. */
function applyBandPass(): void {
  const filtered = CORNERS; // measureQuality has finished with the sorted numbers there
  for (let v = 0; v < FREQUENCY_COUNT; v++) {
    for (let u = 0; u < FREQUENCY_COUNT; u++) {
      const squaredRadius = u * u + v * v;
      const offset = (<usize>(v * FREQUENCY_COUNT + u)) << 3;
      store<f64>(
        filtered + offset,
        squaredRadius >= 25 && squaredRadius <= 5476 ? load<f64>(COEFFICIENTS + offset) : 0.0,
      );
    }
  }
  multiplyMatrices(DCT_TRANSPOSED, GRID_SIZE, FREQUENCY_COUNT, filtered, FREQUENCY_COUNT, PARTIAL_PRODUCT);
  multiplyMatrices(PARTIAL_PRODUCT, GRID_SIZE, FREQUENCY_COUNT, DCT, GRID_SIZE, BAND_PASSED);
}

/** (Σe)² / Σe² over the band energy e of the 256 blocks. */
function computeParticipationRatio(): f64 {
  let sum = 0.0;
  let sumOfSquares = 0.0;
  for (let block = 0; block < 256; block++) {
    const blockStart = BAND_PASSED + ((<usize>((block >> 4) * 8 * GRID_SIZE + (block & 15) * 8)) << 3);
    let energy = 0.0;
    for (let i = 0; i < 64; i++) {
      const value = load<f64>(blockStart + ((<usize>((i >> 3) * GRID_SIZE + (i & 7))) << 3));
      energy += value * value;
    }
    sum += energy;
    sumOfSquares += energy * energy;
  }
  return (sum * sum) / sumOfSquares;
}

/**
 * Least-squares slope over the buckets of ln(larger magnitude + 1e-6) against ln radius. The radius
 * is always that of the first member.
 */
function computeSpectralSlope(): f64 {
  let mean = 0.0;
  for (let i = 0; i < BUCKET_COUNT; i++) mean += computeFirstMemberLogRadius(i);
  mean /= <f64>BUCKET_COUNT;
  let crossSum = 0.0;
  let squaredDeviationSum = 0.0;
  for (let i = 0; i < BUCKET_COUNT; i++) {
    const deviation = computeFirstMemberLogRadius(i) - mean;
    crossSum += deviation * Math.log(computeLargerMagnitude(i) + 1e-6);
    squaredDeviationSum += deviation * deviation;
  }
  return crossSum / squaredDeviationSum;
}

function computeFirstMemberLogRadius(bucket: i32): f64 {
  const v = <f64>load<u8>(BUCKET_POSITIONS + ((<usize>bucket) << 2));
  const u = <f64>load<u8>(BUCKET_POSITIONS + ((<usize>bucket) << 2), 1);
  return Math.log(Math.sqrt(u * u + v * v));
}

/** Quantile (`fraction` 0 … 1) of BUCKET_COUNT sorted numbers, with linear interpolation. */
function computeQuantile(sorted: usize, fraction: f64): f64 {
  const position = fraction * <f64>(BUCKET_COUNT - 1);
  const index = <i32>position;
  const low = load<f64>(sorted + ((<usize>index) << 3));
  const high = load<f64>(sorted + ((<usize>min(index + 1, BUCKET_COUNT - 1)) << 3));
  return low + (high - low) * (position - <f64>index);
}

/** Heap sort, ascending. */
function sortNumbers(list: usize, count: i32): void {
  for (let start = (count >> 1) - 1; start >= 0; start--) siftDown(list, start, count);
  for (let end = count - 1; end > 0; end--) {
    const top = load<f64>(list);
    store<f64>(list, load<f64>(list + ((<usize>end) << 3)));
    store<f64>(list + ((<usize>end) << 3), top);
    siftDown(list, 0, end);
  }
}

function siftDown(list: usize, start: i32, count: i32): void {
  let root = start;
  const value = load<f64>(list + ((<usize>root) << 3));
  for (;;) {
    let child = 2 * root + 1;
    if (child >= count) break;
    if (child + 1 < count && load<f64>(list + ((<usize>child) << 3)) < load<f64>(list + ((<usize>(child + 1)) << 3)))
      child++;
    const childValue = load<f64>(list + ((<usize>child) << 3));
    if (childValue <= value) break;
    store<f64>(list + ((<usize>root) << 3), childValue);
    root = child;
  }
  store<f64>(list + ((<usize>root) << 3), value);
}
