/**
 * The changed copies of the self-test: the reference's four, a brighter and a small copy, a medium
 * copy for pictures whose small copy fails, and a copy on black (decision 0012, "Self-test").
 */
import { toPictureRows, type PictureRows, type Raster } from "../picture-rows.ts";
import { simulateJpeg50 } from "./jpeg-simulation.ts";
import { ResampleFilter, resample } from "./resample.ts";

export const SelfTestCopy = {
  messenger: "messenger",
  quarter: "quarter",
  gamma: "gamma",
  cropped: "cropped",
  bright: "bright",
  small: "small",
  medium: "medium",
  /** For a picture with transparent parts. Enrolment blends these on white. */
  onBlack: "on_black",
} as const;
export type SelfTestCopy = (typeof SelfTestCopy)[keyof typeof SelfTestCopy];

/** Rows of a copy, and a function that clears its pixels. */
export interface ChangedCopy {
  readonly rows: PictureRows;
  readonly clear: () => void;
}

/** Makes a changed copy, in the stored orientation. */
export function createChangedCopy(copy: SelfTestCopy, picture: Raster): ChangedCopy {
  switch (copy) {
    case SelfTestCopy.quarter:
      return toChangedCopy(
        resample(
          picture,
          roundHalfToEven(picture.width / 4),
          roundHalfToEven(picture.height / 4),
          ResampleFilter.bilinear,
        ),
      );
    case SelfTestCopy.gamma:
      return { rows: mapColours(toPictureRows(picture), gammaTable), clear: () => undefined };
    case SelfTestCopy.cropped:
      return { rows: cropAndMirror(picture), clear: () => undefined };
    case SelfTestCopy.bright:
      return { rows: mapColours(toPictureRows(picture), brightnessTable), clear: () => undefined };
    case SelfTestCopy.small:
      return scaleAndCompress(picture, 200 / Math.min(picture.width, picture.height), ResampleFilter.bilinear);
    case SelfTestCopy.medium:
      return scaleAndCompress(picture, 350 / Math.min(picture.width, picture.height), ResampleFilter.bilinear);
    case SelfTestCopy.onBlack:
      return { rows: blendOnBlack(toPictureRows(picture)), clear: () => undefined };
    case SelfTestCopy.messenger:
      return scaleAndCompress(picture, 1280 / Math.max(picture.width, picture.height), ResampleFilter.lanczos);
  }
}

/** Scales down, never up, then simulates JPEG 50. */
function scaleAndCompress(picture: Raster, factor: number, filter: ResampleFilter): ChangedCopy {
  const scale = Math.min(1, factor);
  const width = roundHalfToEven(picture.width * scale);
  const height = roundHalfToEven(picture.height * scale);
  const scaled = resample(picture, width, height, filter);
  const compressed = simulateJpeg50(scaled);
  scaled.rgba.fill(0);
  return toChangedCopy(compressed);
}

function toChangedCopy(raster: Raster): ChangedCopy {
  return { rows: toPictureRows(raster), clear: () => void raster.rgba.fill(0) };
}

const gammaTable = Uint8Array.from({ length: 256 }, (_, i) =>
  Math.min(255, Math.max(0, roundHalfToEven(255 * (i / 255) ** 1.25))),
);

/** Brightens by a fifth. Values that are almost white become white and lose their texture. */
const brightnessTable = Uint8Array.from({ length: 256 }, (_, i) => Math.min(255, roundHalfToEven(1.2 * i)));

/** Maps every colour with a table; keeps alpha. */
function mapColours(rows: PictureRows, table: Uint8Array): PictureRows {
  return {
    ...rows,
    readRows: (from, count, target) => {
      rows.readRows(from, count, target);
      for (let i = 0; i < count * rows.width * 4; i++) if ((i & 3) !== 3) target[i] = table[target[i] ?? 0] ?? 0;
    },
  };
}

/** Blends alpha on black; the result is opaque. */
function blendOnBlack(rows: PictureRows): PictureRows {
  return {
    ...rows,
    readRows: (from, count, target) => {
      rows.readRows(from, count, target);
      for (let offset = 0; offset < count * rows.width * 4; offset += 4) {
        const alpha = target[offset + 3] ?? 255;
        for (let i = offset; i < offset + 3; i++) target[i] = Math.trunc(((target[i] ?? 0) * alpha + 127) / 255);
        target[offset + 3] = 255;
      }
    },
  };
}

/** Crops 3 % off each side, then mirrors left to right. */
function cropAndMirror({ width, height, orientation, rgba }: Raster): PictureRows {
  const left = roundHalfToEven(0.03 * width);
  const right = roundHalfToEven(0.97 * width);
  const top = roundHalfToEven(0.03 * height);
  const bottom = roundHalfToEven(0.97 * height);
  const pixels = new Uint32Array(rgba.buffer, rgba.byteOffset, rgba.length / 4);
  return {
    width: right - left,
    height: bottom - top,
    orientation,
    readRows: (from, count, target) => {
      const out = new Uint32Array(target.buffer, target.byteOffset, count * (right - left));
      for (let row = 0, offset = 0; row < count; row++) {
        const lineStart = (top + from + row) * width;
        for (let x = right - 1; x >= left; x--) out[offset++] = pixels[lineStart + x] ?? 0;
      }
    },
  };
}

/** Rounds to the nearest integer; halves go to the even one. */
function roundHalfToEven(value: number): number {
  const floor = Math.floor(value);
  const fraction = value - floor;
  if (fraction !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}
