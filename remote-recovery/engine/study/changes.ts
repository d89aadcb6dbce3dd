/** Changes that are applied to copies of a picture. Copies with a promised change must open. */
import type { SearchHint } from "../src/engine.ts";
import type { Raster } from "../src/picture-rows.ts";
import { ResampleFilter, resample } from "../src/self-test/resample.ts";
import type { Codecs } from "./codecs.ts";
import { convertToSrgb, colourSpaces } from "./gamut.ts";

export interface Change {
  readonly name: string;
  readonly promised: boolean;
  readonly apply: (picture: Raster, codecs: Codecs) => Promise<Raster>;
  /** Hint that a person gives after the usual search has failed. */
  readonly hint?: SearchHint;
}

/** Shortest side in pixels of a copy that must open. */
export const minPromisedSide = 200;

export const changes: readonly Change[] = [
  promisedChange("JPEG 30", (p, { jpeg }) => jpeg(p, 30)),
  promisedChange("JPEG 50", (p, { jpeg }) => jpeg(p, 50)),
  promisedChange("JPEG 75", (p, { jpeg }) => jpeg(p, 75)),
  promisedChange("JPEG 95", (p, { jpeg }) => jpeg(p, 95)),
  promisedChange("messenger: long side 1200, JPEG 75", (p, { jpeg }) => jpeg(scaleToLongSide(p, 1200), 75)),
  promisedChange("messenger: long side 960, JPEG 60", (p, { jpeg }) => jpeg(scaleToLongSide(p, 960), 60)),
  promisedChange("two hops: 1280 JPEG 75, 1000 JPEG 70", async (p, { jpeg }) =>
    jpeg(scaleToLongSide(await jpeg(scaleToLongSide(p, 1280), 75), 1000), 70),
  ),
  promisedChange("quarter size, JPEG 50", (p, { jpeg }) => jpeg(scale(p, 0.25), 50)),
  promisedChange("half size", (p) => Promise.resolve(scale(p, 0.5))),
  promisedChange("twice the size, JPEG 75", (p, { jpeg }) => jpeg(scale(p, 2), 75)),
  promisedChange("screenshot of the picture alone: long side 1170, PNG", (p) =>
    Promise.resolve(scaleToLongSide(p, 1170)),
  ),
  promisedChange("WebP 75", (p, { webp }) => webp(p, 75)),
  promisedChange("AVIF 50, long side 1000", (p, { avif }) => avif(scaleToLongSide(p, 1000), 50)),
  promisedChange("brightness +20 %", (p) => Promise.resolve(mapColours(p, (v) => v * 1.2))),
  promisedChange("brightness −20 %", (p) => Promise.resolve(mapColours(p, (v) => v * 0.8))),
  promisedChange("contrast +20 %", (p) => Promise.resolve(mapColours(p, (v) => (v - 128) * 1.2 + 128))),
  promisedChange("contrast −20 %", (p) => Promise.resolve(mapColours(p, (v) => (v - 128) * 0.8 + 128))),
  promisedChange("gamma 0.8", (p) => Promise.resolve(mapColours(p, (v) => 255 * (v / 255) ** 0.8))),
  promisedChange("gamma 1.25", (p) => Promise.resolve(mapColours(p, (v) => 255 * (v / 255) ** 1.25))),
  promisedChange("grey, JPEG 75", (p, { jpeg }) => jpeg(toGrey(p), 75)),
  promisedChange("blur 3 × 3, JPEG 75", (p, { jpeg }) => jpeg(convolve(p, [1, 1, 1, 1, 1, 1, 1, 1, 1]), 75)),
  promisedChange("sharpen, JPEG 75", (p, { jpeg }) => jpeg(convolve(p, [0, -1, 0, -1, 8, -1, 0, -1, 0]), 75)),
  promisedChange("noise ±8, JPEG 75", (p, { jpeg }) => jpeg(addNoise(p, 8), 75)),
  promisedChange("crop 2 % each side, upside down, JPEG 75", (p, { jpeg }) =>
    jpeg(withOrientation(crop(p, 0.02, 0.02, 0.02, 0.02), 3), 75),
  ),
  promisedChange("uneven crop up to 3 %, turned, JPEG 75", (p, { jpeg }) =>
    jpeg(withOrientation(crop(p, 0.013, 0.027, 0.004, 0.021), 6), 75),
  ),
  promisedChange("crop 5 % each side, mirrored, JPEG 75", (p, { jpeg }) =>
    jpeg(withOrientation(crop(p, 0.05, 0.05, 0.05, 0.05), 2), 75),
  ),
  promisedChange("crop 5 % left and top, long side 1080, JPEG 60", (p, { jpeg }) =>
    jpeg(scaleToLongSide(crop(p, 0.05, 0, 0.05, 0), 1080), 60),
  ),
  {
    name: "bars above and below, JPEG 75, as a screenshot (not promised)",
    promised: false,
    apply: (p, { jpeg }) => jpeg(addFrame(p, 0, 0.28, 0.33), 75),
    hint: { kind: "screenshot" },
  },
  {
    name: "in a larger page, JPEG 75, sides marked by hand to 1 % (not promised)",
    promised: false,
    apply: (p, { jpeg }) => jpeg(addFrame(p, 0.11, 0.2, 0.31), 75),
    hint: { kind: "frame", left: 0.118, right: 0.883, top: 0.193, bottom: 0.697 },
  },
  { name: "crop 12 % left (not promised)", promised: false, apply: (p) => Promise.resolve(crop(p, 0.12, 0, 0, 0)) },
  {
    name: "long side 300, JPEG 50 (not promised)",
    promised: false,
    apply: (p, { jpeg }) => jpeg(scaleToLongSide(p, 300), 50),
  },
  {
    name: "Display P3 converted to sRGB, JPEG 75 (not promised)",
    promised: false,
    apply: (p, { jpeg }) => jpeg(convertToSrgb(p, colourSpaces.displayP3), 75),
  },
  {
    name: "Adobe RGB converted to sRGB, JPEG 75 (not promised)",
    promised: false,
    apply: (p, { jpeg }) => jpeg(convertToSrgb(p, colourSpaces.adobeRgb), 75),
  },
];

function promisedChange(name: string, apply: Change["apply"]): Change {
  return { name, promised: true, apply };
}

export function scaleToLongSide(picture: Raster, side: number): Raster {
  return scale(picture, Math.min(1, side / Math.max(picture.width, picture.height)));
}

function scale(picture: Raster, factor: number): Raster {
  if (factor === 1) return picture;
  return resample(
    picture,
    Math.max(1, Math.round(picture.width * factor)),
    Math.max(1, Math.round(picture.height * factor)),
    factor === 0.5 ? ResampleFilter.lanczos : ResampleFilter.bilinear,
  );
}

function mapColours(picture: Raster, transform: (value: number) => number): Raster {
  const table = Uint8ClampedArray.from({ length: 256 }, (_, value) => Math.round(transform(value)));
  const rgba = picture.rgba.slice();
  for (let i = 0; i < rgba.length; i++) if ((i & 3) !== 3) rgba[i] = table[rgba[i] ?? 0] ?? 0;
  return { ...picture, rgba };
}

function toGrey(picture: Raster): Raster {
  const rgba = picture.rgba.slice();
  for (let offset = 0; offset < rgba.length; offset += 4)
    rgba.fill(
      Math.round(0.299 * (rgba[offset] ?? 0) + 0.587 * (rgba[offset + 1] ?? 0) + 0.114 * (rgba[offset + 2] ?? 0)),
      offset,
      offset + 3,
    );
  return { ...picture, rgba };
}

function convolve(picture: Raster, weights: readonly number[]): Raster {
  const { width, height } = picture;
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const rgba = new Uint8ClampedArray(picture.rgba.slice().buffer);
  for (let y = 1; y < height - 1; y++) {
    for (let x = 1; x < width - 1; x++) {
      for (let c = 0; c < 3; c++) {
        let total = 0;
        for (let k = 0; k < 9; k++) {
          total +=
            (weights[k] ?? 0) * (picture.rgba[((y + Math.floor(k / 3) - 1) * width + x + (k % 3) - 1) * 4 + c] ?? 0);
        }
        rgba[(y * width + x) * 4 + c] = total / sum;
      }
    }
  }
  return { ...picture, rgba: new Uint8Array(rgba.buffer) };
}

/** Adds uniform noise from a fixed seed. */
function addNoise(picture: Raster, amplitude: number): Raster {
  let x = 12345;
  const rgba = new Uint8ClampedArray(picture.rgba.slice().buffer);
  for (let i = 0; i < rgba.length; i++) {
    if ((i & 3) === 3) continue;
    x = (Math.imul(1664525, x) + 1013904223) >>> 0;
    rgba[i] = (rgba[i] ?? 0) + ((x >>> 8) % (2 * amplitude + 1)) - amplitude;
  }
  return { ...picture, rgba: new Uint8Array(rgba.buffer) };
}

export function crop(picture: Raster, left: number, right: number, top: number, bottom: number): Raster {
  const x0 = Math.round(left * picture.width);
  const y0 = Math.round(top * picture.height);
  const width = Math.round((1 - right) * picture.width) - x0;
  const height = Math.round((1 - bottom) * picture.height) - y0;
  const rgba = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y++) {
    const offset = ((y0 + y) * picture.width + x0) * 4;
    rgba.set(picture.rgba.subarray(offset, offset + width * 4), y * width * 4);
  }
  return { width, height, orientation: picture.orientation, rgba };
}

/** Puts the picture into the middle of a dark page with a few lines outside the picture. */
function addFrame(picture: Raster, sideFraction: number, topFraction: number, bottomFraction: number): Raster {
  const left = Math.round((picture.width * sideFraction) / (1 - 2 * sideFraction));
  const frameWidth = picture.width + 2 * left;
  const frameHeight = Math.round(picture.height / (1 - topFraction - bottomFraction));
  const top = Math.round(frameHeight * topFraction);
  const rgba = new Uint8Array(frameWidth * frameHeight * 4).fill(255);
  for (let y = 0; y < frameHeight; y++) rgba.fill(y % 97 < 3 ? 200 : 40, y * frameWidth * 4, (y + 1) * frameWidth * 4);
  for (let offset = 3; offset < rgba.length; offset += 4) rgba[offset] = 255;
  for (let y = 0; y < picture.height; y++) {
    rgba.set(
      picture.rgba.subarray(y * picture.width * 4, (y + 1) * picture.width * 4),
      ((top + y) * frameWidth + left) * 4,
    );
  }
  return { width: frameWidth, height: frameHeight, orientation: picture.orientation, rgba };
}

function withOrientation(picture: Raster, orientation: number): Raster {
  return { ...picture, orientation };
}
