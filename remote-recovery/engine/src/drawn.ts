import type { Raster } from "./picture-rows.ts";

/** Number of rows that is enough to estimate a share. */
const maxSampledRows = 1000;

/**
 * Limits of a photograph. In the study, good photographs stay below 0.45 and 0.25. A drawn picture
 * exceeds the first limit, and after JPEG and resizing still the second.
 */
const maxFlatShare = 0.6;
const maxCommonShare = 0.35;
const commonLevelCount = 5;

/**
 * Whether a picture looks drawn, like a screenshot: most pixels have exactly the colour of their
 * right and lower neighbours, or a few grey levels make up most of the picture.
 */
export function looksDrawn({ width, height, rgba }: Raster): boolean {
  const pixels = new Uint32Array(rgba.buffer, rgba.byteOffset, rgba.length / 4);
  const levelCounts = new Uint32Array(256);
  const step = Math.ceil(height / maxSampledRows);
  let flatCount = 0;
  let count = 0;
  for (let y = 0; y < height - 1; y += step) {
    for (let i = y * width; i < (y + 1) * width - 1; i++, count++) {
      if (pixels[i] === pixels[i + 1] && pixels[i] === pixels[i + width]) flatCount++;
      const level = (77 * (rgba[4 * i] ?? 0) + 150 * (rgba[4 * i + 1] ?? 0) + 29 * (rgba[4 * i + 2] ?? 0)) >> 8;
      levelCounts[level] = (levelCounts[level] ?? 0) + 1;
    }
  }
  const commonCount = levelCounts
    .toSorted((a, b) => b - a)
    .subarray(0, commonLevelCount)
    .reduce((sum, levelCount) => sum + levelCount, 0);
  return flatCount > maxFlatShare * count || commonCount > maxCommonShare * count;
}
