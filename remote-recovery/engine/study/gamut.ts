/** Converts between sRGB and wider colour spaces, which files specify with a profile. */
import type { Raster } from "../src/picture-rows.ts";

type Matrix = readonly [
  readonly [number, number, number],
  readonly [number, number, number],
  readonly [number, number, number],
];

interface ColourSpace {
  /** Maps linear light of this space, 0…1 per channel, to that of sRGB. */
  readonly toSrgb: Matrix;
  readonly toLight: (value: number) => number;
  readonly fromLight: (light: number) => number;
}

const srgbToLinear = (value: number) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const linearToSrgb = (light: number) => (light <= 0.0031308 ? light * 12.92 : 1.055 * light ** (1 / 2.4) - 0.055);
const adobeGamma = 563 / 256;

/** Matrices from the primaries of SMPTE EG 432-1 (with the white of sRGB) and Adobe RGB (1998). */
export const colourSpaces = {
  displayP3: {
    toSrgb: [
      [1.22494018, -0.22494018, 0],
      [-0.04205695, 1.04205695, 0],
      [-0.01963755, -0.07863605, 1.0982736],
    ],
    toLight: srgbToLinear,
    fromLight: linearToSrgb,
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
} as const satisfies Record<string, ColourSpace>;

/** Converts a picture of this space to sRGB; colours outside sRGB are clipped. */
export function convertToSrgb(picture: Raster, space: ColourSpace): Raster {
  return convert(picture, space.toLight, space.toSrgb, linearToSrgb);
}

export function convertFromSrgb(picture: Raster, space: ColourSpace): Raster {
  return convert(picture, srgbToLinear, invert(space.toSrgb), space.fromLight);
}

function convert(
  picture: Raster,
  toLight: (value: number) => number,
  matrix: Matrix,
  fromLight: (light: number) => number,
): Raster {
  const light = Float64Array.from({ length: 256 }, (_, value) => toLight(value / 255));
  const rgba = new Uint8ClampedArray(picture.rgba.slice().buffer);
  for (let offset = 0; offset < rgba.length; offset += 4) {
    const [r, g, b] = [
      light[rgba[offset] ?? 0] ?? 0,
      light[rgba[offset + 1] ?? 0] ?? 0,
      light[rgba[offset + 2] ?? 0] ?? 0,
    ];
    matrix.forEach(([x, y, z], channel) => {
      rgba[offset + channel] = 255 * fromLight(Math.min(1, Math.max(0, x * r + y * g + z * b)));
    });
  }
  return { ...picture, rgba: new Uint8Array(rgba.buffer) };
}

function invert([[a, b, c], [d, e, f], [g, h, i]]: Matrix): Matrix {
  const determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
  const divide = (value: number) => value / determinant;
  return [
    [divide(e * i - f * h), divide(c * h - b * i), divide(b * f - c * e)],
    [divide(f * g - d * i), divide(a * i - c * g), divide(c * d - a * f)],
    [divide(d * h - e * g), divide(b * g - a * h), divide(a * e - b * d)],
  ];
}
