/** The generated pictures of the vectors. Runs in Node and in browsers. */
/** RGBA pixels and their EXIF orientation. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly orientation: number;
  readonly rgba: Uint8Array;
}

/** R, G, B per pixel, as the vectors hash them. */
export function toRgb({ rgba }: Pixels): Uint8Array {
  const rgb = new Uint8Array((rgba.length / 4) * 3);
  for (let i = 0, j = 0; i < rgba.length; i += 4) {
    rgb[j++] = rgba[i] ?? 0;
    rgb[j++] = rgba[i + 1] ?? 0;
    rgb[j++] = rgba[i + 2] ?? 0;
  }
  return rgb;
}

function createPixels(
  width: number,
  height: number,
  colour: (x: number, y: number) => readonly [number, number, number],
): Pixels {
  const rgba = new Uint8Array(width * height * 4);
  for (let y = 0, offset = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [r, g, b] = colour(x, y);
      rgba[offset++] = r;
      rgba[offset++] = g;
      rgba[offset++] = b;
      rgba[offset++] = 255;
    }
  }
  return { width, height, orientation: 1, rgba };
}

const createGreyPixels = (width: number, height: number, value: (x: number, y: number) => number) =>
  createPixels(width, height, (x, y) => {
    const v = value(x, y);
    return [v, v, v];
  });

/** x ← 1664525·x + 1013904223 mod 2³²; below(n) draws once and gives ⌊x / 256⌋ mod n. */
function createRandom(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (Math.imul(1664525, state) + 1013904223) >>> 0;
    return (state >>> 8) % n;
  };
}

/** The rectangle picture of `synthetic_generator`. */
function createSyntheticPixels(width: number, height: number, seed: number): Pixels {
  const draw = createRandom(seed);
  const sums = new Int32Array(width * height * 3);
  for (let i = 0; i < 4000; i++) {
    const left = draw(width);
    const top = draw(height);
    const right = Math.min(width, left + 1 + draw(Math.floor(width / 6)));
    const bottom = Math.min(height, top + 1 + draw(Math.floor(height / 6)));
    const change = [draw(81) - 40, draw(81) - 40, draw(81) - 40];
    for (let y = top; y < bottom; y++) {
      for (let offset = (y * width + left) * 3; offset < (y * width + right) * 3; offset += 3) {
        for (let c = 0; c < 3; c++) sums[offset + c] = (sums[offset + c] ?? 0) + (change[c] ?? 0);
      }
    }
  }
  const clampedSum = (offset: number) => Math.min(255, Math.max(0, (sums[offset] ?? 0) + 128));
  return createPixels(width, height, (x, y) => {
    const offset = (y * width + x) * 3;
    return [clampedSum(offset), clampedSum(offset + 1), clampedSum(offset + 2)];
  });
}

const createBlockNoise = () => {
  const draw = createRandom(1);
  const blocks = Array.from({ length: 200 * 150 }, () => draw(256));
  return createGreyPixels(1600, 1200, (x, y) => blocks[Math.floor(y / 8) * 200 + Math.floor(x / 8)] ?? 0);
};
const generators: Readonly<Record<string, () => Pixels>> = {
  "synthetic-1200x900": () => createSyntheticPixels(1200, 900, 1),
  "synthetic-901x1333": () => createSyntheticPixels(901, 1333, 2),
  black: () => createGreyPixels(1600, 1200, () => 0),
  white: () => createGreyPixels(1600, 1200, () => 255),
  gradient: () => createGreyPixels(1600, 1200, (x) => Math.floor((255 * x) / 1600)),
  "diagonal gradient": () => createGreyPixels(1600, 1200, (x, y) => Math.floor((255 * (x + y)) / 2800)),
  disc: () => createGreyPixels(1600, 1200, (x, y) => ((x - 700) ** 2 + (y - 500) ** 2 < 90000 ? 220 : 20)),
  horizon: () => createGreyPixels(1600, 1200, (_, y) => (y < 500 ? 200 : 80)),
  checkerboard: () => createGreyPixels(1600, 1200, (x, y) => ((Math.floor(x / 40) + Math.floor(y / 40)) % 2) * 255),
  stripes: () => createGreyPixels(1600, 1200, (x) => (Math.floor(x / 25) % 2) * 255),
  "block noise": createBlockNoise,
};

/** A generated picture of the vectors; null for the name of a photograph. */
export function generatePicture(name: string): Pixels | null {
  const picture = cache.get(name) ?? generators[name]?.() ?? null;
  if (picture !== null) cache.set(name, picture);
  return picture;
}
const cache = new Map<string, Pixels>();
