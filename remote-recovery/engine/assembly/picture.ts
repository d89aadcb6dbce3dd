/**
 * Turns stored RGBA rows into the area table. The caller writes up to `stripRows` rows at a time to
 * the strip. Each row is oriented, blended on white and converted to luma as it is read.
 */

const TARGET_STRIP_BYTES: usize = 1 << 20;
const MAX_PIXELS: i64 = 52_000_000;
const MIN_SIDE: i32 = 64;

let storedWidth: i32 = 0;
let storedHeight: i32 = 0;
let orientation: i32 = 1;
let rowsRead: i32 = 0;
let rowsPerStrip: i32 = 0;
let strip: usize = 0;
let luma: usize = 0;
let dynamicEnd: usize = 0;

/** Pixels after orientation; 0 without a picture. */
export let width: i32 = 0;
export let height: i32 = 0;
/**
 * Address of the area table (summed-area table): (satRows + 1) × (satColumns + 1) float64. 0 until
 * a picture is complete.
 */
export let sat: usize = 0;
export let satRows: i32 = 0;
export let satColumns: i32 = 0;
/** Width and height in reduced pixels, with a fraction. */
export let extentX: f64 = 0;
export let extentY: f64 = 0;
let reduction: i32 = 0;

export function reductionFactor(): i32 {
  return reduction;
}
export function stripAddress(): usize {
  return strip;
}
export function stripRows(): i32 {
  return rowsPerStrip;
}
export function lumaAddress(): usize {
  return luma;
}

/**
 * Prepares for a picture of stored size w × h and EXIF orientation 1 … 8. Returns 1 when ready; 0
 * if a side is below 64, there are more than 52 million pixels, or the orientation is invalid; −1
 * if there is not enough memory.
 */
export function beginPicture(w: i32, h: i32, exifOrientation: i32): i32 {
  return layOutMemory(w, h, exifOrientation, true);
}

/**
 * Prepares for the area table of a picture in another instance, w × h after orientation. The caller
 * writes the table to `sat`. Returns the same values as beginPicture.
 */
export function beginAreaTable(w: i32, h: i32): i32 {
  const status = layOutMemory(w, h, 1, false);
  if (status != 1) return status;
  sat = luma;
  strip = 0;
  luma = 0;
  return 1;
}

/**
 * Lays out strip, luma and area table. Without `hasPixels`, lays out only the area table, at
 * `luma`.
 */
function layOutMemory(w: i32, h: i32, exifOrientation: i32, hasPixels: bool): i32 {
  clearPicture();
  if (w < MIN_SIDE || h < MIN_SIDE || <i64>w * <i64>h > MAX_PIXELS) return 0;
  if (exifOrientation < 1 || exifOrientation > 8) return 0;
  const swapsSides = exifOrientation >= 5;
  const orientedWidth = swapsSides ? h : w;
  const orientedHeight = swapsSides ? w : h;
  const newReduction = max(1, min(w, h) / 384);
  const columnCount = orientedWidth / newReduction;
  const rowCount = orientedHeight / newReduction;

  const rowBytes = (<usize>w) << 2;
  const newRowsPerStrip = hasPixels ? max(1, min(h, <i32>(TARGET_STRIP_BYTES / rowBytes))) : 0;
  const stripStart = (__heap_base + 15) & ~15;
  const lumaStart = (stripStart + <usize>newRowsPerStrip * rowBytes + 15) & ~15;
  const satStart = (lumaStart + (hasPixels ? <usize>w * <usize>h : 0) + 15) & ~15;
  const end = satStart + (((<usize>rowCount + 1) * (<usize>columnCount + 1)) << 3);
  const pages = <i32>((end + 0xffff) >> 16);
  const missingPages = pages - memory.size();
  if (missingPages > 0 && memory.grow(missingPages) < 0) return -1;

  storedWidth = w;
  storedHeight = h;
  orientation = exifOrientation;
  rowsRead = 0;
  rowsPerStrip = newRowsPerStrip;
  strip = stripStart;
  luma = lumaStart;
  width = orientedWidth;
  height = orientedHeight;
  satRows = rowCount;
  satColumns = columnCount;
  reduction = newReduction;
  extentX = <f64>orientedWidth / <f64>newReduction;
  extentY = <f64>orientedHeight / <f64>newReduction;
  sat = 0;
  dynamicEnd = end;
  return 1;
}

/**
 * Reads the next `count` rows of the strip. Returns the number of rows still missing. Returns −1 if
 * fewer than `count` are missing, or without a picture.
 */
export function consumeRows(count: i32): i32 {
  if (strip == 0 || luma == 0 || count < 1 || count > rowsPerStrip || count > storedHeight - rowsRead) return -1;
  const w = storedWidth;
  const h = storedHeight;
  for (let row = 0; row < count; row++) {
    const y = rowsRead + row;
    // Oriented position of stored pixel (0, y), and the step to the next pixel in its row.
    let firstX: i32, firstY: i32, step: i32;
    switch (orientation) {
      case 2: {
        firstX = w - 1;
        firstY = y;
        step = -1;
        break;
      } // mirrored left to right
      case 3: {
        firstX = w - 1;
        firstY = h - 1 - y;
        step = -1;
        break;
      } // rotated 180°
      case 4: {
        firstX = 0;
        firstY = h - 1 - y;
        step = 1;
        break;
      } // flipped top to bottom
      case 5: {
        firstX = y;
        firstY = 0;
        step = h;
        break;
      } // transposed
      case 6: {
        firstX = h - 1 - y;
        firstY = 0;
        step = h;
        break;
      } // rotated 90° clockwise
      case 7: {
        firstX = h - 1 - y;
        firstY = w - 1;
        step = -h;
        break;
      } // transposed about the other diagonal
      case 8: {
        firstX = y;
        firstY = w - 1;
        step = -h;
        break;
      } // rotated 90° counter-clockwise
      default: {
        firstX = 0;
        firstY = y;
        step = 1;
      }
    }
    convertRowToLuma(
      strip + ((<usize>row * <usize>w) << 2),
      w,
      luma + <usize>firstY * <usize>width + <usize>firstX,
      step,
    );
  }
  memory.fill(strip, 0, (<usize>count * <usize>w) << 2);
  rowsRead += count;
  return storedHeight - rowsRead;
}

/**
 * Writes luma: Y = (77 R + 150 G + 29 B) ≫ 8. Each channel is first blended on white: (c·a +
 * 255·(255 − a) + 127) div 255.
 */
function convertRowToLuma(from: usize, count: i32, to: usize, step: i32): void {
  const end = from + ((<usize>count) << 2);
  while (from < end) {
    const pixel = load<u32>(from);
    let r = pixel & 255;
    let g = (pixel >> 8) & 255;
    let b = (pixel >> 16) & 255;
    const alpha = pixel >> 24;
    if (alpha != 255) {
      const white = 255 * (255 - alpha) + 127;
      r = (r * alpha + white) / 255;
      g = (g * alpha + white) / 255;
      b = (b * alpha + white) / 255;
    }
    store<u8>(to, (77 * r + 150 * g + 29 * b) >> 8);
    from += 4;
    to += <usize>(<isize>step);
  }
}

/**
 * Reduces the luma, computes the area table and clears the luma. Returns 1, or 0 if rows are
 * missing.
 */
export function endPicture(): i32 {
  if (luma == 0 || rowsRead != storedHeight) return 0;
  const table = (luma + <usize>storedWidth * <usize>storedHeight + 15) & ~15;
  const factor = reduction;
  const divisor = <u32>(2 * factor * factor);
  const rounding = <u32>(factor * factor);
  const stride = (<usize>satColumns + 1) << 3;
  memory.fill(table, 0, stride);
  for (let row = 0; row < satRows; row++) {
    let above = table + <usize>row * stride;
    let current = above + stride;
    let rowSum = 0.0;
    store<f64>(current, 0.0);
    const blockRowAddress = luma + <usize>(row * factor) * <usize>width;
    for (let column = 0; column < satColumns; column++) {
      let sum: u32 = 0;
      let pixelAddress = blockRowAddress + <usize>(column * factor);
      for (let j = 0; j < factor; j++) {
        for (let i = 0; i < factor; i++) sum += <u32>load<u8>(pixelAddress + <usize>i);
        pixelAddress += <usize>width;
      }
      const reduced: u32 = (sum * 256 + rounding) / divisor; // integers: luma × 128, halves rounded up
      rowSum += <f64>reduced / 128.0; // exact: multiples of 1/128 below 2^46
      above += 8;
      current += 8;
      store<f64>(current, load<f64>(above) + rowSum);
    }
  }
  clearLuma();
  sat = table;
  return 1;
}

function clearLuma(): void {
  if (luma == 0) return;
  memory.fill(luma, 0, <usize>storedWidth * <usize>storedHeight);
  luma = 0;
}

/** Zeroes the picture's memory and resets its variables. */
export function clearPicture(): void {
  if (dynamicEnd != 0) {
    const start = (__heap_base + 15) & ~15;
    memory.fill(start, 0, dynamicEnd - start);
  }
  dynamicEnd = 0;
  strip = 0;
  luma = 0;
  sat = 0;
  rowsPerStrip = 0;
  rowsRead = 0;
  storedWidth = 0;
  storedHeight = 0;
  width = 0;
  height = 0;
  satRows = 0;
  satColumns = 0;
  reduction = 0;
}
