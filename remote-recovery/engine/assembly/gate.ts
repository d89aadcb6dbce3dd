/**
 * What the quality gate measures on GRID and COEFFICIENTS of the enrolment window. The thresholds
 * stand in the face.
 */
import {
  BAND,
  BUCKET_COUNT,
  BUCKET_INDEX,
  CELLS,
  COEFFICIENTS,
  CORNERS,
  DCT,
  DCT_TRANSPOSED,
  GRID,
  OUT_MEASURES,
  PARTIAL_PRODUCT,
  ROWS,
} from "./memory";
import { coefficientOf } from "./bits";
import { multiplyMatrices } from "./matrix";
import { BUCKETS } from "./tables";

/**
 * Writes coverage, spread, median, tenth, peak, slope, estimate. GRID and COEFFICIENTS must be
 * there.
 */
export function measureQuality(): void {
  memory.fill(OUT_MEASURES, 0, 56);
  const coverage = <f64>countTexturedBlocks() / 256.0;
  store<f64>(OUT_MEASURES, coverage);

  // The larger magnitude of each bucket, sorted, in the scratch area.
  const maxima = CORNERS;
  for (let i = 0; i < BUCKET_COUNT; i++) store<f64>(maxima + ((<usize>i) << 3), largerMagnitude(i));
  sortNumbers(maxima, BUCKET_COUNT);
  store<f64>(OUT_MEASURES, percentile(maxima, 0.5), 16);
  store<f64>(OUT_MEASURES, percentile(maxima, 0.1), 24);

  bandPass();
  let squares = 0.0;
  let fourths = 0.0;
  for (let i = 0; i < CELLS * CELLS; i++) {
    const value = load<f64>(BAND + ((<usize>i) << 3));
    const square = value * value;
    squares += square;
    fourths += square * square;
  }
  const power = squares / <f64>(CELLS * CELLS);
  if (power < 1e-6) return; // flat: nothing to measure

  const spread = participationRatio();
  const peak = fourths / <f64>(CELLS * CELLS) / (power * power);
  const slope = spectralSlope();
  store<f64>(OUT_MEASURES, spread, 8);
  store<f64>(OUT_MEASURES, peak, 32);
  store<f64>(OUT_MEASURES, slope, 40);
  store<f64>(
    OUT_MEASURES,
    1.357 + 0.197 * coverage - 0.038 * Math.log(spread + 1.0) - 0.156 * Math.log(peak) + 0.289 * slope,
    48,
  );
}

function largerMagnitude(bucket: i32): f64 {
  return max(abs(coefficientOf(BUCKET_INDEX, bucket, 0)), abs(coefficientOf(BUCKET_INDEX, bucket, 1)));
}

/**
 * Of the 256 blocks of 8 × 8 cells, those with a population standard deviation above 3 grey levels.
 */
function countTexturedBlocks(): i32 {
  let count = 0;
  for (let block = 0; block < 256; block++) {
    const corner = GRID + ((<usize>((block >> 4) * 8 * CELLS + (block & 15) * 8)) << 3);
    let sum = 0.0;
    for (let i = 0; i < 64; i++) sum += load<f64>(corner + ((<usize>((i >> 3) * CELLS + (i & 7))) << 3));
    const mean = sum / 64.0;
    let squares = 0.0;
    for (let i = 0; i < 64; i++) {
      const deviation = load<f64>(corner + ((<usize>((i >> 3) * CELLS + (i & 7))) << 3)) - mean;
      squares += deviation * deviation;
    }
    if (Math.sqrt(squares / 64.0) > 3.0) count++;
  }
  return count;
}

/** BAND = Dᵀ·C'·D with C' the coefficients of 25 ≤ u² + v² ≤ 74². */
function bandPass(): void {
  const filtered = CORNERS; // the sorted maxima are done with
  for (let v = 0; v < ROWS; v++) {
    for (let u = 0; u < ROWS; u++) {
      const r2 = u * u + v * v;
      const offset = (<usize>(v * ROWS + u)) << 3;
      store<f64>(filtered + offset, r2 >= 25 && r2 <= 5476 ? load<f64>(COEFFICIENTS + offset) : 0.0);
    }
  }
  multiplyMatrices(DCT_TRANSPOSED, CELLS, ROWS, filtered, ROWS, PARTIAL_PRODUCT);
  multiplyMatrices(PARTIAL_PRODUCT, CELLS, ROWS, DCT, CELLS, BAND);
}

/** (Σe)² / Σe² over the band energy e of the 256 blocks. */
function participationRatio(): f64 {
  let sum = 0.0;
  let squares = 0.0;
  for (let block = 0; block < 256; block++) {
    const corner = BAND + ((<usize>((block >> 4) * 8 * CELLS + (block & 15) * 8)) << 3);
    let energy = 0.0;
    for (let i = 0; i < 64; i++) {
      const value = load<f64>(corner + ((<usize>((i >> 3) * CELLS + (i & 7))) << 3));
      energy += value * value;
    }
    sum += energy;
    squares += energy * energy;
  }
  return (sum * sum) / squares;
}

/**
 * Least-squares slope of ln(larger magnitude + 1e-6) over ln radius of the bucket's first member.
 */
function spectralSlope(): f64 {
  let mean = 0.0;
  for (let i = 0; i < BUCKET_COUNT; i++) mean += logRadius(i);
  mean /= <f64>BUCKET_COUNT;
  let covariance = 0.0;
  let variance = 0.0;
  for (let i = 0; i < BUCKET_COUNT; i++) {
    const deviation = logRadius(i) - mean;
    covariance += deviation * Math.log(largerMagnitude(i) + 1e-6);
    variance += deviation * deviation;
  }
  return covariance / variance;
}

function logRadius(bucket: i32): f64 {
  const v = <f64>load<u8>(BUCKETS + ((<usize>bucket) << 2));
  const u = <f64>load<u8>(BUCKETS + ((<usize>bucket) << 2), 1);
  return Math.log(Math.sqrt(u * u + v * v));
}

/** Percentile of sorted numbers, with linear interpolation. */
function percentile(sorted: usize, fraction: f64): f64 {
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
