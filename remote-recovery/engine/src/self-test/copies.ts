/**
 * The changed copies of the self-test: the four of image-key.md, "Quality gate at enrolment", 6,
 * two at the edge of what is promised (decision 0013), and one that is larger than the smallest
 * (decision 0078).
 */
import { toPictureRows, type PictureRows, type Raster } from "../rows.ts";
import { simulateJpeg50 } from "./jpeg-simulation.ts";
import { Filter, resample } from "./resample.ts";

export const SelfTestCopy = {
  messenger: "messenger",
  quarter: "quarter",
  gamma: "gamma",
  cropped: "cropped",
  bright: "bright",
  small: "small",
  medium: "medium",
} as const;
export type SelfTestCopy = (typeof SelfTestCopy)[keyof typeof SelfTestCopy];

/** A copy to read rows from, and what clears it. */
export interface ChangedCopy {
  readonly rows: PictureRows;
  readonly clear: () => void;
}

/** Makes a copy of the picture, in its stored orientation. */
export function createChangedCopy(copy: SelfTestCopy, picture: Raster): ChangedCopy {
  switch (copy) {
    case SelfTestCopy.quarter:
      return toChangedCopy(
        resample(picture, roundHalfToEven(picture.width / 4), roundHalfToEven(picture.height / 4), Filter.bilinear),
      );
    case SelfTestCopy.gamma:
      return { rows: mapColours(toPictureRows(picture), gammaTable), clear: () => undefined };
    case SelfTestCopy.cropped:
      return { rows: cropAndMirror(picture), clear: () => undefined };
    case SelfTestCopy.bright:
      return { rows: mapColours(toPictureRows(picture), brightnessTable), clear: () => undefined };
    case SelfTestCopy.small:
      return scaleAndCompress(picture, 200 / Math.min(picture.width, picture.height), Filter.bilinear);
    case SelfTestCopy.medium:
      return scaleAndCompress(picture, 350 / Math.min(picture.width, picture.height), Filter.bilinear);
    case SelfTestCopy.messenger:
      return scaleAndCompress(picture, 1280 / Math.max(picture.width, picture.height), Filter.lanczos);
  }
}

/** Scaled down, never up, then JPEG 50. */
function scaleAndCompress(picture: Raster, factor: number, filter: Filter): ChangedCopy {
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

/** A fifth brighter: what is nearly white becomes white, and its texture is lost. */
const brightnessTable = Uint8Array.from({ length: 256 }, (_, i) => Math.min(255, roundHalfToEven(1.2 * i)));

/** Every colour through a table; alpha stays. */
function mapColours(rows: PictureRows, table: Uint8Array): PictureRows {
  return {
    ...rows,
    readRows: (from, count, target) => {
      rows.readRows(from, count, target);
      for (let i = 0; i < count * rows.width * 4; i++) if ((i & 3) !== 3) target[i] = table[target[i] ?? 0] ?? 0;
    },
  };
}

/** 3 % off each side, then mirrored left to right. */
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

/** To the nearest whole number, halves to even. */
function roundHalfToEven(value: number): number {
  const floor = Math.floor(value);
  const fraction = value - floor;
  if (fraction !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}
