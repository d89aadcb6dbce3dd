/**
 * Boxes of ISO/IEC 14496-12, and what items of a picture file hold (8.11 there, and ISO/IEC
 * 23008-12).
 */
import { unreadable } from "./picture-file.ts";

export interface Box {
  readonly type: string;
  readonly body: DataView;
}

/** The items that a file describes in its box `meta`, read once: a grid may have very many. */
export interface Items {
  readonly kind: "avif" | "heic";
  /** Number of the item that is the picture. */
  readonly primary: number;
  /** What each item is: `av01`, `hvc1`, `grid` and others. */
  readonly types: ReadonlyMap<number, string>;
  /** Properties of each item, in the order in which they apply. */
  readonly properties: ReadonlyMap<number, readonly Box[]>;
  /** The tiles of each grid, row by row. */
  readonly tiles: ReadonlyMap<number, readonly number[]>;
  /** Planes that belong to each item: alpha, depth and others. */
  readonly auxiliaries: ReadonlyMap<number, readonly number[]>;
  /** The bytes of an item. RangeError when a part of them lies outside the file: it is cut. */
  readonly contentOf: (item: number) => Uint8Array;
}

/** RangeError when an offset lies outside its box. */
export function readItems(kind: "avif" | "heic", file: DataView): Items {
  const meta = boxesIn(find(boxesIn(file, 0), "meta", kind), 4); // after version and flags
  const primary = find(meta, "pitm", kind);
  const holders = [file, meta.find(({ type }) => type === "idat")?.body];
  const extents = readExtents(find(meta, "iloc", kind), kind);
  return {
    kind,
    primary: primary.getUint8(0) === 0 ? primary.getUint16(4) : primary.getUint32(4),
    types: readTypes(find(meta, "iinf", kind)),
    properties: readProperties(boxesIn(find(meta, "iprp", kind), 0), kind),
    ...readReferences(meta),
    contentOf: (item) => {
      const parts = (extents.get(item) ?? []).map(({ method, offset, length }) => {
        const holder = holders[method];
        // A length of 0 is "to the end" to one reader and nothing to another.
        if (holder === undefined || length === 0) throw unreadable("broken", kind);
        const view = part(holder, offset, offset + length);
        return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
      });
      return parts.length === 1 && parts[0] !== undefined ? parts[0] : joined(parts);
    },
  };
}

/** Boxes one after another. A box that says to be longer than what holds it ends there. */
export function boxesIn(view: DataView, from: number): Box[] {
  const boxes: Box[] = [];
  for (let at = from; at + 8 <= view.byteLength;) {
    const short = view.getUint32(at);
    const head = short === 1 ? 16 : 8;
    const size = short === 1 ? Number(view.getBigUint64(at + 8)) : short === 0 ? view.byteLength - at : short;
    if (size < head) break;
    const end = Math.min(view.byteLength, at + size);
    boxes.push({ type: nameAt(view, at + 4), body: part(view, Math.min(end, at + head), end) });
    at += size;
  }
  return boxes;
}

/** The only box of its type: of two, another reader might take the other one. */
export function find(boxes: readonly Box[], type: string, kind: string): DataView {
  const [box, second] = boxes.filter((candidate) => candidate.type === type);
  if (box === undefined || second !== undefined) throw unreadable("broken", kind);
  return box.body;
}

export function nameAt(view: DataView, at: number): string {
  return String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));
}

/** Boxes `ipco`, the properties, and `ipma`, which item has which of them (numbered from 1). */
function readProperties(described: readonly Box[], kind: string): Map<number, Box[]> {
  const properties = boxesIn(find(described, "ipco", kind), 0);
  const found = new Map<number, Box[]>();
  for (const { body } of described.filter(({ type }) => type === "ipma")) {
    const wideItems = body.getUint8(0) > 0;
    const wideIndices = (body.getUint8(3) & 1) === 1;
    let at = 8;
    for (let left = body.getUint32(4); left > 0; left--) {
      const id = wideItems ? body.getUint32(at) : body.getUint16(at);
      at += wideItems ? 4 : 2;
      const mine = found.get(id) ?? [];
      found.set(id, mine);
      for (let count = body.getUint8(at++); count > 0; count--) {
        const index = wideIndices ? body.getUint16(at) & 0x7fff : body.getUint8(at) & 0x7f;
        at += wideIndices ? 2 : 1;
        const property = properties[index - 1];
        if (property !== undefined) mine.push(property);
      }
    }
  }
  return found;
}

function readTypes(infos: DataView): Map<number, string> {
  const types = new Map<number, string>();
  for (const { type, body } of boxesIn(infos, infos.getUint8(0) === 0 ? 6 : 8)) {
    const version = body.getUint8(0);
    if (type !== "infe" || version < 2) continue; // older entries name no type
    types.set(version === 2 ? body.getUint16(4) : body.getUint32(4), nameAt(body, version === 2 ? 8 : 10));
  }
  return types;
}

/** The box `iref`: lines from an item to others. */
function readReferences(meta: readonly Box[]): Pick<Items, "tiles" | "auxiliaries"> {
  const tiles = new Map<number, number[]>();
  const auxiliaries = new Map<number, number[]>();
  const add = (map: Map<number, number[]>, key: number, value: number) => {
    const list = map.get(key) ?? [];
    map.set(key, list);
    list.push(value);
  };
  for (const { body } of meta.filter(({ type }) => type === "iref")) {
    const wide = body.getUint8(0) > 0;
    const size = wide ? 4 : 2;
    for (const { type, body: line } of boxesIn(body, 4)) {
      const read = (at: number) => (wide ? line.getUint32(at) : line.getUint16(at));
      for (let left = line.getUint16(size), at = size + 2; left > 0; left--, at += size) {
        if (type === "dimg") add(tiles, read(0), read(at));
        if (type === "auxl") add(auxiliaries, read(at), read(0));
      }
    }
  }
  return { tiles, auxiliaries };
}

/** A part of an item: 0 in the file, 1 in the box `idat`; a length of 0 is up to the end. */
interface Extent {
  readonly method: number;
  readonly offset: number;
  readonly length: number;
}

function readExtents(places: DataView, kind: string): Map<number, Extent[]> {
  const version = places.getUint8(0);
  const sizes = places.getUint16(4);
  const [offsetSize, lengthSize, baseSize, indexSize] = [
    sizes >> 12,
    (sizes >> 8) & 15,
    (sizes >> 4) & 15,
    version === 0 ? 0 : sizes & 15,
  ];
  let at = 6;
  const read = (size: number) => {
    if (size !== 0 && size !== 2 && size !== 4 && size !== 8) throw unreadable("broken", kind);
    const value =
      size === 0
        ? 0
        : size === 2
          ? places.getUint16(at)
          : size === 4
            ? places.getUint32(at)
            : Number(places.getBigUint64(at));
    at += size;
    return value;
  };
  const found = new Map<number, Extent[]>();
  const wide = version === 2 ? 4 : 2;
  for (let left = read(wide); left > 0; left--) {
    const id = read(wide);
    const method = version === 0 ? 0 : read(2) & 15;
    read(2); // the data reference: this file
    const base = read(baseSize);
    const mine = found.get(id) ?? [];
    found.set(id, mine);
    for (let extents = read(2); extents > 0; extents--) {
      read(indexSize);
      const offset = base + read(offsetSize);
      mine.push({ method, offset, length: read(lengthSize) });
    }
  }
  return found;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const bytes of parts) {
    out.set(bytes, at);
    at += bytes.length;
  }
  return out;
}

/** From … to − 1 of a view; RangeError outside it. */
function part(view: DataView, from: number, to: number): DataView {
  if (from > to || to > view.byteLength) throw new RangeError("outside the file");
  return new DataView(view.buffer, view.byteOffset + from, to - from);
}
