/** AVIF and HEIC: boxes of ISO/IEC 14496-12, items and properties of ISO/IEC 23008-12. */
import { unreadable, type PictureHeader } from "./header.ts";

interface Box {
  readonly type: string;
  readonly body: DataView;
}

/** The header of an AVIF or HEIC file; null when it is neither. `picture_unreadable` when it is one, but broken. */
export function readIsoHeader(bytes: Uint8Array): PictureHeader | null {
  const file = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 16 || name(file, 4) !== "ftyp") return null;
  const kind = kindOf(file);
  if (kind === null) return null;
  try {
    return readItem(file, kind);
  } catch (error) {
    if (error instanceof RangeError) throw unreadable("broken", kind, error); // an offset outside the file
    throw error;
  }
}

/** By the brands: `mif1` alone says nothing of the codec. */
function kindOf(file: DataView): "avif" | "heic" | null {
  const end = Math.min(file.byteLength, file.getUint32(0));
  const brands: string[] = [];
  for (let at = 8; at + 4 <= end; at += 4) if (at !== 12) brands.push(name(file, at));
  if (brands.some((brand) => brand === "avif" || brand === "avis")) return "avif";
  return brands.some((brand) => /^(hei[cxms]|hev[cx])$/.test(brand)) ? "heic" : null;
}

/** Size, turn and mirror of the primary item. */
function readItem(file: DataView, kind: "avif" | "heic"): PictureHeader {
  const meta = find(boxesIn(file, 0), "meta", kind);
  const inside = boxesIn(meta, 4); // after version and flags
  const primary = find(inside, "pitm", kind);
  const item = primary.getUint8(0) === 0 ? primary.getUint16(4) : primary.getUint32(4);
  const described = boxesIn(find(inside, "iprp", kind), 0);
  const properties = boxesIn(find(described, "ipco", kind), 0);
  const mine = described
    .filter(({ type }) => type === "ipma")
    .flatMap(({ body }) => associations(body, item))
    .flatMap((index) => properties[index - 1] ?? []);
  const size = find(mine, "ispe", kind);
  const width = size.getUint32(4);
  const height = size.getUint32(8);
  if (width === 0 || height === 0) throw unreadable("broken", kind);
  // libheif turns and mirrors by itself, libavif does not.
  const orientation = kind === "heic" ? 1 : orientationOf(mine);
  const turned = kind === "heic" && mine.some(({ type, body }) => type === "irot" && (body.getUint8(0) & 1) === 1);
  const extraBytesPerPixel = kind === "avif" ? 25 : 6; // measured at 6 to 24 (AVIF) and 12 to 48 megapixels (HEIC)
  return turned
    ? { kind, width: height, height: width, orientation, extraBytesPerPixel }
    : { kind, width, height, orientation, extraBytesPerPixel };
}

/** Numbers (from 1) of the properties of an item: the box `ipma`. */
function associations(body: DataView, item: number): number[] {
  const wideItems = body.getUint8(0) > 0;
  const wideIndices = (body.getUint8(3) & 1) === 1;
  const found: number[] = [];
  let at = 8;
  for (let left = body.getUint32(4); left > 0; left--) {
    const id = wideItems ? body.getUint32(at) : body.getUint16(at);
    at += wideItems ? 4 : 2;
    const count = body.getUint8(at++);
    for (let i = 0; i < count; i++) {
      const index = wideIndices ? body.getUint16(at) & 0x7fff : body.getUint8(at) & 0x7f;
      at += wideIndices ? 2 : 1;
      if (id === item) found.push(index);
    }
  }
  return found;
}

/** EXIF orientation of a turn by quarter circles counter-clockwise, then a mirror: upside down (0) or left to right (1). */
function orientationOf(properties: readonly Box[]): number {
  const value = (type: string, bits: number) => {
    const box = properties.find((property) => property.type === type);
    return box === undefined ? null : box.body.getUint8(0) & bits;
  };
  const turn = value("irot", 3) ?? 0;
  const mirror = value("imir", 1);
  const column = mirror === null ? 0 : mirror === 0 ? 1 : 2;
  return [[1, 4, 2], [8, 5, 7], [3, 2, 4], [6, 7, 5]][turn]?.[column] ?? 1;
}

function find(boxes: readonly Box[], type: string, kind: string): DataView {
  const box = boxes.find((candidate) => candidate.type === type);
  if (box === undefined) throw unreadable("broken", kind);
  return box.body;
}

/** Boxes one after another. A box that says to be longer than what holds it ends there. */
function boxesIn(view: DataView, from: number): Box[] {
  const boxes: Box[] = [];
  for (let at = from; at + 8 <= view.byteLength; ) {
    const short = view.getUint32(at);
    const head = short === 1 ? 16 : 8;
    const size = short === 1 ? Number(view.getBigUint64(at + 8)) : short === 0 ? view.byteLength - at : short;
    if (size < head) break;
    const end = Math.min(view.byteLength, at + size);
    boxes.push({ type: name(view, at + 4), body: new DataView(view.buffer, view.byteOffset + at + head, Math.max(0, end - at - head)) });
    at += size;
  }
  return boxes;
}

function name(view: DataView, at: number): string {
  return String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));
}
