/**
 * From stored RGBA rows to the area table (steps 2 to 5 of the profile). The caller writes rows
 * into the strip, as many as `stripRows` says, until all are in; orientation, alpha on white and
 * luma happen on the way in.
 */

const STRIP_TARGET: usize = 1 << 20;
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

/** As seen, in pixels. 0 before a picture is there. */
export let width: i32 = 0;
export let height: i32 = 0;
/** The area table: (satRows + 1) × (satColumns + 1) float64. 0 before a picture is complete. */
export let sat: usize = 0;
export let satRows: i32 = 0;
export let satColumns: i32 = 0;
/** Extents in reduced pixels, with their fraction. */
export let extentX: f64 = 0;
export let extentY: f64 = 0;
let factor: i32 = 0;

export function reductionFactor(): i32 {
  return factor;
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
 * Prepares for a picture of stored size w × h and EXIF orientation 1 … 8. 1 when ready; 0 when a
 * side is below 64, there are more than 52 million pixels, or the orientation is none; −1 when
 * there is no memory for it.
 */
export function beginPicture(w: i32, h: i32, exifOrientation: i32): i32 {
  return prepare(w, h, exifOrientation, true);
}

/**
 * Prepares for the area table of a picture of this size as seen, which another instance has made:
 * the caller writes it to `sat`. 1 when ready; 0 and −1 as beginPicture.
 */
export function beginAreaTable(w: i32, h: i32): i32 {
  const status = prepare(w, h, 1, false);
  if (status != 1) return status;
  sat = luma;
  strip = 0;
  luma = 0;
  return 1;
}

/**
 * Lays out strip, luma and area table; without `withPixels` the area table alone, where `luma`
 * says.
 */
function prepare(w: i32, h: i32, exifOrientation: i32, withPixels: bool): i32 {
  clearPicture();
  if (w < MIN_SIDE || h < MIN_SIDE || <i64>w * <i64>h > MAX_PIXELS) return 0;
  if (exifOrientation < 1 || exifOrientation > 8) return 0;
  const swapsSides = exifOrientation >= 5;
  const seenWidth = swapsSides ? h : w;
  const seenHeight = swapsSides ? w : h;
  const f = max(1, min(w, h) / 384);
  const columns = seenWidth / f;
  const rows = seenHeight / f;

  const rowBytes = (<usize>w) << 2;
  const perStrip = withPixels ? max(1, min(h, <i32>(STRIP_TARGET / rowBytes))) : 0;
  const stripStart = (__heap_base + 15) & ~15;
  const lumaStart = (stripStart + <usize>perStrip * rowBytes + 15) & ~15;
  const satStart = (lumaStart + (withPixels ? <usize>w * <usize>h : 0) + 15) & ~15;
  const end = satStart + (((<usize>rows + 1) * (<usize>columns + 1)) << 3);
  const pages = <i32>((end + 0xffff) >> 16);
  const missingPages = pages - memory.size();
  if (missingPages > 0 && memory.grow(missingPages) < 0) return -1;

  storedWidth = w;
  storedHeight = h;
  orientation = exifOrientation;
  rowsRead = 0;
  rowsPerStrip = perStrip;
  strip = stripStart;
  luma = lumaStart;
  width = seenWidth;
  height = seenHeight;
  satRows = rows;
  satColumns = columns;
  factor = f;
  extentX = <f64>seenWidth / <f64>f;
  extentY = <f64>seenHeight / <f64>f;
  sat = 0;
  dynamicEnd = end;
  return 1;
}

/**
 * Takes the next `count` rows from the strip. Rows still missing; −1 when there are not so many, or
 * no picture was begun.
 */
export function consumeRows(count: i32): i32 {
  if (strip == 0 || luma == 0 || count < 1 || count > rowsPerStrip || count > storedHeight - rowsRead) return -1;
  const w = storedWidth;
  const h = storedHeight;
  for (let row = 0; row < count; row++) {
    const y = rowsRead + row;
    // Where pixel (0, y) of the stored picture is seen, and how far the next one of the row is from
    // there.
    let x0: i32, y0: i32, step: i32;
    switch (orientation) {
      case 2: {
        x0 = w - 1;
        y0 = y;
        step = -1;
        break;
      } // mirrored left to right
      case 3: {
        x0 = w - 1;
        y0 = h - 1 - y;
        step = -1;
        break;
      } // rotated 180°
      case 4: {
        x0 = 0;
        y0 = h - 1 - y;
        step = 1;
        break;
      } // flipped top to bottom
      case 5: {
        x0 = y;
        y0 = 0;
        step = h;
        break;
      } // transposed
      case 6: {
        x0 = h - 1 - y;
        y0 = 0;
        step = h;
        break;
      } // rotated 90° clockwise
      case 7: {
        x0 = h - 1 - y;
        y0 = w - 1;
        step = -h;
        break;
      } // transposed about the other diagonal
      case 8: {
        x0 = y;
        y0 = w - 1;
        step = -h;
        break;
      } // rotated 90° counter-clockwise
      default: {
        x0 = 0;
        y0 = y;
        step = 1;
      }
    }
    lumaRow(strip + ((<usize>row * <usize>w) << 2), w, luma + <usize>y0 * <usize>width + <usize>x0, step);
  }
  memory.fill(strip, 0, (<usize>count * <usize>w) << 2);
  rowsRead += count;
  return storedHeight - rowsRead;
}

/** Y = (77 R + 150 G + 29 B) ≫ 8, each channel on white: (c·a + 255·(255 − a) + 127) div 255. */
function lumaRow(from: usize, count: i32, to: usize, step: i32): void {
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

/** Reduces the luma and sums it up; clears the luma. 1 when done; 0 when rows are missing. */
export function endPicture(): i32 {
  if (luma == 0 || rowsRead != storedHeight) return 0;
  const table = (luma + <usize>storedWidth * <usize>storedHeight + 15) & ~15;
  const f = factor;
  const divisor = <u32>(2 * f * f);
  const rounding = <u32>(f * f);
  const stride = (<usize>satColumns + 1) << 3;
  memory.fill(table, 0, stride);
  for (let row = 0; row < satRows; row++) {
    let above = table + <usize>row * stride;
    let current = above + stride;
    let rowSum = 0.0;
    store<f64>(current, 0.0);
    const top = luma + <usize>(row * f) * <usize>width;
    for (let column = 0; column < satColumns; column++) {
      let sum: u32 = 0;
      let line = top + <usize>(column * f);
      for (let j = 0; j < f; j++) {
        for (let i = 0; i < f; i++) sum += <u32>load<u8>(line + <usize>i);
        line += <usize>width;
      }
      const reduced: u32 = (sum * 256 + rounding) / divisor; // whole numbers: luma × 128, halves up
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

/** Clears and forgets the picture. */
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
  factor = 0;
}
