/**
 * A picture as rows that are asked for: the file's own, or a changed copy that is never whole in
 * memory.
 */
export interface PictureRows {
  readonly width: number;
  readonly height: number;
  /** EXIF orientation, 1…8. */
  readonly orientation: number;
  /** Writes `count` rows of RGBA from row `from` on into `target`, tightly packed. */
  readonly readRows: (from: number, count: number, target: Uint8Array) => void;
}

/** Tightly packed RGBA, row by row, as stored in the file. */
export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly orientation: number;
  readonly rgba: Uint8Array;
}

export function toPictureRows({ width, height, orientation, rgba }: Raster): PictureRows {
  const rowBytes = width * 4;
  return {
    width,
    height,
    orientation,
    readRows: (from, count, target) => {
      target.set(rgba.subarray(from * rowBytes, (from + count) * rowBytes));
    },
  };
}
