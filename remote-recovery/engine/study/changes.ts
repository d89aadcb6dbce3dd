/**
 * What life does to a picture: the promised changes of image-key.md, and some that are not
 * promised.
 */
import type { SearchHint } from "../src/engine.ts";
import type { Raster } from "../src/rows.ts";
import { Filter, resample } from "../src/self-test/resample.ts";
import type { Codecs } from "./codecs.ts";
import { asSrgb, spaces } from "./gamut.ts";

export interface Change {
  readonly name: string;
  readonly promised: boolean;
  readonly make: (picture: Raster, codecs: Codecs) => Promise<Raster>;
  /** Recovered with this hint, which a person gives when the usual search has failed. */
  readonly hint?: SearchHint;
}

/** Changes after which the short side has fewer pixels are not promised for this picture. */
export const shortestPromised = 200;

export const changes: readonly Change[] = [
  promised("JPEG 30", (p, { jpeg }) => jpeg(p, 30)),
  promised("JPEG 50", (p, { jpeg }) => jpeg(p, 50)),
  promised("JPEG 75", (p, { jpeg }) => jpeg(p, 75)),
  promised("JPEG 95", (p, { jpeg }) => jpeg(p, 95)),
  promised("messenger: long side 1200, JPEG 75", (p, { jpeg }) => jpeg(longSide(p, 1200), 75)),
  promised("messenger: long side 960, JPEG 60", (p, { jpeg }) => jpeg(longSide(p, 960), 60)),
  promised("two hops: 1280 JPEG 75, 1000 JPEG 70", async (p, { jpeg }) =>
    jpeg(longSide(await jpeg(longSide(p, 1280), 75), 1000), 70),
  ),
  promised("quarter size, JPEG 50", (p, { jpeg }) => jpeg(scale(p, 0.25), 50)),
  promised("half size", (p) => Promise.resolve(scale(p, 0.5))),
  promised("twice the size, JPEG 75", (p, { jpeg }) => jpeg(scale(p, 2), 75)),
  promised("screenshot of the picture alone: long side 1170, PNG", (p) => Promise.resolve(longSide(p, 1170))),
  promised("WebP 75", (p, { webp }) => webp(p, 75)),
  promised("AVIF 50, long side 1000", (p, { avif }) => avif(longSide(p, 1000), 50)),
  promised("brightness +20 %", (p) => Promise.resolve(colours(p, (v) => v * 1.2))),
  promised("brightness −20 %", (p) => Promise.resolve(colours(p, (v) => v * 0.8))),
  promised("contrast +20 %", (p) => Promise.resolve(colours(p, (v) => (v - 128) * 1.2 + 128))),
  promised("contrast −20 %", (p) => Promise.resolve(colours(p, (v) => (v - 128) * 0.8 + 128))),
  promised("gamma 0.8", (p) => Promise.resolve(colours(p, (v) => 255 * (v / 255) ** 0.8))),
  promised("gamma 1.25", (p) => Promise.resolve(colours(p, (v) => 255 * (v / 255) ** 1.25))),
  promised("grey, JPEG 75", (p, { jpeg }) => jpeg(grey(p), 75)),
  promised("blur 3 × 3, JPEG 75", (p, { jpeg }) => jpeg(kernel(p, [1, 1, 1, 1, 1, 1, 1, 1, 1]), 75)),
  promised("sharpen, JPEG 75", (p, { jpeg }) => jpeg(kernel(p, [0, -1, 0, -1, 8, -1, 0, -1, 0]), 75)),
  promised("noise ±8, JPEG 75", (p, { jpeg }) => jpeg(noise(p, 8), 75)),
  promised("crop 2 % each side, upside down, JPEG 75", (p, { jpeg }) =>
    jpeg(turned(crop(p, 0.02, 0.02, 0.02, 0.02), 3), 75),
  ),
  promised("uneven crop up to 3 %, turned, JPEG 75", (p, { jpeg }) =>
    jpeg(turned(crop(p, 0.013, 0.027, 0.004, 0.021), 6), 75),
  ),
  promised("crop 5 % each side, mirrored, JPEG 75", (p, { jpeg }) =>
    jpeg(turned(crop(p, 0.05, 0.05, 0.05, 0.05), 2), 75),
  ),
  promised("crop 5 %, 0, 5 %, 0, long side 1080, JPEG 60", (p, { jpeg }) =>
    jpeg(longSide(crop(p, 0.05, 0, 0.05, 0), 1080), 60),
  ),
  {
    name: "bars above and below, JPEG 75, as a screenshot (not promised)",
    promised: false,
    make: (p, { jpeg }) => jpeg(framed(p, 0, 0.28, 0.33), 75),
    hint: { kind: "screenshot" },
  },
  {
    name: "a frame all around, JPEG 75, drawn by hand to 1 % (not promised)",
    promised: false,
    make: (p, { jpeg }) => jpeg(framed(p, 0.11, 0.2, 0.31), 75),
    hint: { kind: "frame", left: 0.118, right: 0.883, top: 0.193, bottom: 0.697 },
  },
  { name: "crop 12 % left (not promised)", promised: false, make: (p) => Promise.resolve(crop(p, 0.12, 0, 0, 0)) },
  { name: "long side 300, JPEG 50 (not promised)", promised: false, make: (p, { jpeg }) => jpeg(longSide(p, 300), 50) },
  {
    name: "Display P3 brought to sRGB, JPEG 75 (not promised)",
    promised: false,
    make: (p, { jpeg }) => jpeg(asSrgb(p, spaces.displayP3), 75),
  },
  {
    name: "Adobe RGB brought to sRGB, JPEG 75 (not promised)",
    promised: false,
    make: (p, { jpeg }) => jpeg(asSrgb(p, spaces.adobeRgb), 75),
  },
];

function promised(name: string, make: Change["make"]): Change {
  return { name, promised: true, make };
}

export function longSide(picture: Raster, side: number): Raster {
  return scale(picture, Math.min(1, side / Math.max(picture.width, picture.height)));
}

function scale(picture: Raster, by: number): Raster {
  if (by === 1) return picture;
  return resample(
    picture,
    Math.max(1, Math.round(picture.width * by)),
    Math.max(1, Math.round(picture.height * by)),
    by === 0.5 ? Filter.lanczos : Filter.bilinear,
  );
}

function colours(picture: Raster, bend: (value: number) => number): Raster {
  const table = Uint8ClampedArray.from({ length: 256 }, (_, value) => Math.round(bend(value)));
  const rgba = picture.rgba.slice();
  for (let i = 0; i < rgba.length; i++) if ((i & 3) !== 3) rgba[i] = table[rgba[i] ?? 0] ?? 0;
  return { ...picture, rgba };
}

function grey(picture: Raster): Raster {
  const rgba = picture.rgba.slice();
  for (let at = 0; at < rgba.length; at += 4)
    rgba.fill(
      Math.round(0.299 * (rgba[at] ?? 0) + 0.587 * (rgba[at + 1] ?? 0) + 0.114 * (rgba[at + 2] ?? 0)),
      at,
      at + 3,
    );
  return { ...picture, rgba };
}

function kernel(picture: Raster, weights: readonly number[]): Raster {
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

/** Uniform noise, the same for the same picture. */
function noise(picture: Raster, most: number): Raster {
  let x = 12345;
  const rgba = new Uint8ClampedArray(picture.rgba.slice().buffer);
  for (let i = 0; i < rgba.length; i++) {
    if ((i & 3) === 3) continue;
    x = (Math.imul(1664525, x) + 1013904223) >>> 0;
    rgba[i] = (rgba[i] ?? 0) + ((x >>> 8) % (2 * most + 1)) - most;
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
    const from = ((y0 + y) * picture.width + x0) * 4;
    rgba.set(picture.rgba.subarray(from, from + width * 4), y * width * 4);
  }
  return { width, height, orientation: picture.orientation, rgba };
}

/**
 * The picture in the middle of a darker page with a few lines on it: parts of the result that are
 * not picture.
 */
function framed(picture: Raster, aside: number, above: number, below: number): Raster {
  const left = Math.round((picture.width * aside) / (1 - 2 * aside));
  const across = picture.width + 2 * left;
  const down = Math.round(picture.height / (1 - above - below));
  const top = Math.round(down * above);
  const rgba = new Uint8Array(across * down * 4).fill(255);
  for (let y = 0; y < down; y++) rgba.fill(y % 97 < 3 ? 200 : 40, y * across * 4, (y + 1) * across * 4);
  for (let at = 3; at < rgba.length; at += 4) rgba[at] = 255;
  for (let y = 0; y < picture.height; y++) {
    rgba.set(
      picture.rgba.subarray(y * picture.width * 4, (y + 1) * picture.width * 4),
      ((top + y) * across + left) * 4,
    );
  }
  return { width: across, height: down, orientation: picture.orientation, rgba };
}

/** The same pixels, to be seen as an EXIF orientation says. */
function turned(picture: Raster, orientation: number): Raster {
  return { ...picture, orientation };
}
