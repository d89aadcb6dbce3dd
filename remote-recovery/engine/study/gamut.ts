/**
 * Colours of wider spaces than sRGB, which files name by a profile: what programs make of their
 * values.
 */
import type { Raster } from "../src/rows.ts";

type Matrix = readonly [
  readonly [number, number, number],
  readonly [number, number, number],
  readonly [number, number, number],
];

interface Space {
  /** Light of this space (0…1 each) to light of sRGB. */
  readonly toSrgb: Matrix;
  readonly toLight: (value: number) => number;
  readonly fromLight: (light: number) => number;
}

const srgbLight = (value: number) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const srgbValue = (light: number) => (light <= 0.0031308 ? light * 12.92 : 1.055 * light ** (1 / 2.4) - 0.055);
const adobeGamma = 563 / 256;

/** Matrices by the primaries of SMPTE EG 432-1 (with the white of sRGB) and of Adobe RGB (1998). */
export const spaces = {
  displayP3: {
    toSrgb: [
      [1.22494018, -0.22494018, 0],
      [-0.04205695, 1.04205695, 0],
      [-0.01963755, -0.07863605, 1.0982736],
    ],
    toLight: srgbLight,
    fromLight: srgbValue,
  },
  adobeRgb: {
    toSrgb: [
      [1.39835574, -0.39835574, 0],
      [0, 1, 0],
      [0, -0.04293893, 1.04293893],
    ],
    toLight: (value) => value ** adobeGamma,
    fromLight: (light) => light ** (1 / adobeGamma),
  },
} as const satisfies Record<string, Space>;

/**
 * The values of a picture that was in this space, in sRGB: what lies outside of that is clipped.
 */
export function asSrgb(picture: Raster, space: Space): Raster {
  return converted(picture, space.toLight, space.toSrgb, srgbValue);
}

/** The values of a picture that was in sRGB, in this space. */
export function fromSrgb(picture: Raster, space: Space): Raster {
  return converted(picture, srgbLight, inverse(space.toSrgb), space.fromLight);
}

function converted(
  picture: Raster,
  toLight: (value: number) => number,
  matrix: Matrix,
  fromLight: (light: number) => number,
): Raster {
  const light = Float64Array.from({ length: 256 }, (_, value) => toLight(value / 255));
  const rgba = new Uint8ClampedArray(picture.rgba.slice().buffer);
  for (let at = 0; at < rgba.length; at += 4) {
    const [r, g, b] = [light[rgba[at] ?? 0] ?? 0, light[rgba[at + 1] ?? 0] ?? 0, light[rgba[at + 2] ?? 0] ?? 0];
    matrix.forEach(([x, y, z], channel) => {
      rgba[at + channel] = 255 * fromLight(Math.min(1, Math.max(0, x * r + y * g + z * b)));
    });
  }
  return { ...picture, rgba: new Uint8Array(rgba.buffer) };
}

function inverse([[a, b, c], [d, e, f], [g, h, i]]: Matrix): Matrix {
  const determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
  const over = (value: number) => value / determinant;
  return [
    [over(e * i - f * h), over(c * h - b * i), over(b * f - c * e)],
    [over(f * g - d * i), over(a * i - c * g), over(c * d - a * f)],
    [over(d * h - e * g), over(b * g - a * h), over(a * e - b * d)],
  ];
}
