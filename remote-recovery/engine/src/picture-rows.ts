/**
 * A picture that is read by rows: from a file, or from a changed copy that is never complete in
 * memory.
 */
export interface PictureRows {
  readonly width: number;
  readonly height: number;
  /** EXIF orientation, 1…8. */
  readonly orientation: number;
  /** Writes `count` rows of RGBA, starting at row `from`, to `target`, tightly packed. */
  readonly readRows: (from: number, count: number, target: Uint8Array) => void;
}

/** Tightly packed RGBA rows, as stored in the file. */
export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly orientation: number;
  readonly rgba: Uint8Array;
}

/** Whether any pixel is not opaque. */
export function hasTransparency({ rgba }: Raster): boolean {
  for (let offset = 3; offset < rgba.length; offset += 4) if (rgba[offset] !== 255) return true;
  return false;
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
