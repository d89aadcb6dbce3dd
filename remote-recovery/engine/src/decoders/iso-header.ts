/** Reads headers of AVIF and HEIC. Their frames must have the size that the file states. */
import { readAv1FrameSizes, readHevcFrameSizes, type FrameSize } from "./frame-sizes.ts";
import { unreadableError, type PictureHeader } from "./picture-file.ts";
import { requireBox, readFourCharacterCode, readItems, type Box, type Items } from "./iso-boxes.ts";

/**
 * Header of an AVIF or HEIC file; null for other files. Throws `picture_unreadable` if the file is
 * broken or a sequence.
 */
export function readIsoHeader(bytes: Uint8Array): PictureHeader | null {
  const file = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 16 || readFourCharacterCode(file, 4) !== "ftyp") return null;
  const kind = detectKind(file);
  if (kind === null) return null;
  try {
    return readPrimaryItem(readItems(kind, file));
  } catch (error) {
    if (error instanceof RangeError) throw unreadableError("broken", kind, error); // an offset lies outside the file
    throw error;
  }
}

/**
 * Detects the codec by the brands, since `mif1` does not name one. If `avis` comes first, libavif
 * would read a sequence.
 */
function detectKind(file: DataView): "avif" | "heic" | null {
  const end = Math.min(file.byteLength, file.getUint32(0));
  const brands: string[] = [];
  for (let offset = 8; offset + 4 <= end; offset += 4)
    if (offset !== 12) brands.push(readFourCharacterCode(file, offset));
  if (brands[0] === "avis") throw unreadableError("unsupported", "animated_avif");
  if (brands.some((brand) => brand === "avif" || brand === "avis")) return "avif";
  return brands.some((brand) => /^(hei[cxms]|hev[cx])$/.test(brand)) ? "heic" : null;
}

/**
 * Size, rotation and mirror of the primary item. First checks everything that is decoded with the
 * item.
 */
function readPrimaryItem(items: Items): PictureHeader {
  const { kind, primaryItem } = items;
  const { width, height, hasAlpha, planeBytesPerPixel } = checkItem(items, primaryItem, 0);
  const properties = items.properties.get(primaryItem) ?? [];
  // libheif crops, rotates and mirrors the picture; libavif does not.
  const orientation = kind === "heic" ? 1 : computeOrientation(properties);
  const swapsSides =
    kind === "heic" && properties.some(({ type, body }) => type === "irot" && (body.getUint8(0) & 1) === 1);
  const cropped = kind === "heic" && properties.some(({ type }) => type === "clap");
  // Bytes per pixel, measured at 6 to 24 megapixels (AVIF, up to ten bits in full colour) and at 12
  // to 48 (HEIC, which has no second copy of the pixels). Tiles and alpha are rare in an AVIF and
  // count for more than they need, so that a file that only claims them stays below 600 MB.
  const rareAllowance = (hasAlpha ? 40 : 0) + (items.types.get(primaryItem) === "grid" ? 45 : 0);
  const extraBytesPerPixel = kind === "avif" ? 25 + rareAllowance : 2 * planeBytesPerPixel + (hasAlpha ? 2 : 0);
  const size = swapsSides ? { width: height, height: width } : { width, height };
  return { kind, ...size, ...(cropped ? { cropped } : {}), orientation, extraBytesPerPixel };
}

/**
 * Checks that an item's size is the same in its property `ispe`, in its frames and, for a grid, in
 * its tiles. Also checks the item's alpha, which is a separate item.
 */
function checkItem(items: Items, item: number, depth: number): CheckedItem {
  const { kind } = items;
  const size = readSize(items, item);
  const type = items.types.get(item) ?? "";
  let planeBytesPerPixel = 0;
  let hasAlpha = false;
  if (type === "grid" && depth === 0) ({ planeBytesPerPixel, hasAlpha } = checkGrid(items, item, size));
  else if (type === (kind === "avif" ? "av01" : "hvc1")) planeBytesPerPixel = checkFrames(items, item, size);
  else throw unreadableError(type === "" || type === "grid" ? "broken" : "unsupported", kind);
  if (!isAlpha(items, item)) {
    for (const plane of items.auxiliaries.get(item) ?? []) {
      if (!isAlpha(items, plane)) continue; // depth or a gain map, which is not decoded
      const { width, height } = checkItem(items, plane, depth);
      if (width !== size.width || height !== size.height) throw unreadableError("broken", kind);
      hasAlpha = true;
    }
  }
  return { ...size, planeBytesPerPixel, hasAlpha };
}

interface CheckedItem extends FrameSize {
  /** Bytes per pixel of the frame's planes (HEVC); depends on bit depth and chroma subsampling. */
  readonly planeBytesPerPixel: number;
  readonly hasAlpha: boolean;
}

function readSize(items: Items, item: number): FrameSize {
  const size = requireBox(items.properties.get(item) ?? [], "ispe", items.kind);
  const [width, height] = [size.getUint32(4), size.getUint32(8)];
  if (width === 0 || height === 0) throw unreadableError("broken", items.kind);
  return { width, height };
}

/** Checks that the frames have this size. Returns the bytes per pixel of their planes. */
function checkFrames(items: Items, item: number, { width, height }: FrameSize): number {
  const content = items.readContent(item);
  const configuration = items.kind === "avif" ? null : requireBox(items.properties.get(item) ?? [], "hvcC", items.kind);
  const sizes = configuration === null ? readAv1FrameSizes(content) : readHevcFrameSizes(configuration, content);
  if (sizes.length === 0 || sizes.some((size) => size.width !== width || size.height !== height))
    throw unreadableError("broken", items.kind);
  if (configuration === null) return 0;
  const samplesPerPixel = [1, 1.5, 2, 3][configuration.getUint8(16) & 3] ?? 3;
  return samplesPerPixel * ((configuration.getUint8(17) & 7) > 0 ? 2 : 1);
}

/** Minimum of ISO/IEC 23000-22, 7.3.11.4.2. Smaller tiles could be too many to check. */
const minTileSide = 64;

/**
 * Checks a grid: tiles of one size in rows and columns, no tile entirely outside the picture
 * (ISO/IEC 23008-12, 6.6.2.3).
 */
function checkGrid(items: Items, item: number, size: FrameSize): Pick<CheckedItem, "planeBytesPerPixel" | "hasAlpha"> {
  const content = items.readContent(item);
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  const hasWideFields = (view.getUint8(1) & 1) === 1;
  const [rows, columns] = [view.getUint8(2) + 1, view.getUint8(3) + 1];
  const [width, height] = hasWideFields
    ? [view.getUint32(4), view.getUint32(8)]
    : [view.getUint16(4), view.getUint16(6)];
  const tiles = items.tiles.get(item) ?? [];
  const [firstTile] = tiles;
  if (firstTile === undefined || tiles.length !== rows * columns || width !== size.width || height !== size.height)
    throw unreadableError("broken", items.kind);
  const tile = readSize(items, firstTile);
  if (tile.width < minTileSide || tile.height < minTileSide) throw unreadableError("broken", items.kind);
  const covers = (length: number, count: number, extent: number) =>
    length * count >= extent && length * (count - 1) < extent;
  if (!covers(tile.width, columns, width) || !covers(tile.height, rows, height))
    throw unreadableError("broken", items.kind);
  const checkedTiles = [...new Set(tiles)].map((tileItem) => checkItem(items, tileItem, 1));
  if (checkedTiles.some((checkedTile) => checkedTile.width !== tile.width || checkedTile.height !== tile.height))
    throw unreadableError("broken", items.kind);
  return {
    planeBytesPerPixel: Math.max(...checkedTiles.map(({ planeBytesPerPixel }) => planeBytesPerPixel)),
    hasAlpha: checkedTiles.some(({ hasAlpha }) => hasAlpha),
  };
}

/** Whether an item is alpha, by its name in ISO/IEC 23008-12 or in HEVC. */
function isAlpha(items: Items, item: number): boolean {
  return (items.properties.get(item) ?? []).some(({ type, body }) => {
    const name = Array.from({ length: body.byteLength }, (_, index) => String.fromCharCode(body.getUint8(index))).join(
      "",
    );
    return (
      type === "auxC" &&
      /^.{4}(urn:mpeg:mpegB:cicp:systems:auxiliary:alpha|urn:mpeg:hevc:2015:auxid:1)(\0|$)/.test(name)
    );
  });
}

/**
 * EXIF orientation for counter-clockwise quarter turns followed by a mirror: top to bottom (0) or
 * left to right (1).
 */
function computeOrientation(properties: readonly Box[]): number {
  const readProperty = (type: string, bits: number) => {
    const box = properties.find((property) => property.type === type);
    return box === undefined ? null : box.body.getUint8(0) & bits;
  };
  const quarterTurns = readProperty("irot", 3) ?? 0;
  const mirror = readProperty("imir", 1);
  const column = mirror === null ? 0 : mirror === 0 ? 1 : 2;
  return (
    [
      [1, 4, 2],
      [8, 5, 7],
      [3, 2, 4],
      [6, 7, 5],
    ][quarterTurns]?.[column] ?? 1
  );
}
