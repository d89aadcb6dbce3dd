/**
 * Reads boxes of ISO/IEC 14496-12, and the items of a picture file (8.11 there, and ISO/IEC
 * 23008-12).
 */
import { concatBytes, unreadableError } from "./picture-file.ts";

export interface Box {
  readonly type: string;
  /** Start of the header, in bytes from the start of the buffer. */
  readonly start: number;
  readonly body: DataView;
}

/** A property of an item. */
interface ItemProperty extends Box {
  /** Position in the box `ipco`, from 1. */
  readonly index: number;
  readonly isEssential: boolean;
}

/** Items that a file describes in its box `meta`. Read once, because a grid may have very many. */
export interface Items {
  readonly kind: "avif" | "heic";
  /** Id of the item that is the picture. */
  readonly primaryItem: number;
  /** Type of each item: `av01`, `hvc1`, `grid` and others. */
  readonly types: ReadonlyMap<number, string>;
  /** Properties of each item, in order of application. */
  readonly properties: ReadonlyMap<number, readonly ItemProperty[]>;
  /** The tiles of each grid, row by row. */
  readonly tiles: ReadonlyMap<number, readonly number[]>;
  /** Auxiliary images of each item: alpha, depth and others. */
  readonly auxiliaries: ReadonlyMap<number, readonly number[]>;
  /** Bytes of an item. Throws a RangeError if some lie outside the file, which is then cut. */
  readonly readContent: (item: number) => Uint8Array;
}

/** Throws a RangeError if an offset lies outside its box. */
export function readItems(kind: "avif" | "heic", file: DataView): Items {
  const meta = readBoxes(requireBox(readBoxes(file, 0), "meta", kind), 4); // after version and flags
  const primary = requireBox(meta, "pitm", kind);
  const sources = [file, meta.find(({ type }) => type === "idat")?.body];
  const extents = readExtents(requireBox(meta, "iloc", kind), kind);
  return {
    kind,
    primaryItem: primary.getUint8(0) === 0 ? primary.getUint16(4) : primary.getUint32(4),
    types: readTypes(requireBox(meta, "iinf", kind)),
    properties: readProperties(readBoxes(requireBox(meta, "iprp", kind), 0), kind),
    ...readReferences(meta),
    readContent: (item) => {
      const chunks = (extents.get(item) ?? []).map(({ method, offset, length }) => {
        const source = sources[method];
        // Readers disagree on length 0: some read to the end, others nothing.
        if (source === undefined || length === 0) throw unreadableError("broken", kind);
        const view = subView(source, offset, offset + length);
        return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
      });
      return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : concatBytes(chunks);
    },
  };
}

/** Reads consecutive boxes. Cuts a box that claims to be longer than its container. */
export function readBoxes(view: DataView, start: number): Box[] {
  const boxes: Box[] = [];
  for (let offset = start; offset + 8 <= view.byteLength;) {
    const size32 = view.getUint32(offset);
    const headerSize = size32 === 1 ? 16 : 8;
    const size =
      size32 === 1 ? Number(view.getBigUint64(offset + 8)) : size32 === 0 ? view.byteLength - offset : size32;
    if (size < headerSize) break;
    const end = Math.min(view.byteLength, offset + size);
    boxes.push({
      type: readFourCharacterCode(view, offset + 4),
      start: view.byteOffset + offset,
      body: subView(view, Math.min(end, offset + headerSize), end),
    });
    offset += size;
  }
  return boxes;
}

/** The only box of its type. Rejects duplicates, because another reader might use the other box. */
export function requireBox(boxes: readonly Box[], type: string, kind: string): DataView {
  const [box, duplicate] = boxes.filter((candidate) => candidate.type === type);
  if (box === undefined || duplicate !== undefined) throw unreadableError("broken", kind);
  return box.body;
}

export function readFourCharacterCode(view: DataView, offset: number): string {
  return String.fromCharCode(
    view.getUint8(offset),
    view.getUint8(offset + 1),
    view.getUint8(offset + 2),
    view.getUint8(offset + 3),
  );
}

/**
 * Reads the box `ipco`, which has the properties, and `ipma`, which assigns them to items by number
 * (from 1).
 */
function readProperties(boxes: readonly Box[], kind: string): Map<number, ItemProperty[]> {
  const properties = readBoxes(requireBox(boxes, "ipco", kind), 0);
  const propertiesByItem = new Map<number, ItemProperty[]>();
  for (const { body } of boxes.filter(({ type }) => type === "ipma")) {
    const wideItems = body.getUint8(0) > 0;
    const wideIndices = (body.getUint8(3) & 1) === 1;
    let offset = 8;
    for (let remaining = body.getUint32(4); remaining > 0; remaining--) {
      const id = wideItems ? body.getUint32(offset) : body.getUint16(offset);
      offset += wideItems ? 4 : 2;
      const itemProperties = propertiesByItem.get(id) ?? [];
      propertiesByItem.set(id, itemProperties);
      for (let count = body.getUint8(offset++); count > 0; count--) {
        const value = wideIndices ? body.getUint16(offset) : body.getUint8(offset);
        const essentialBit = wideIndices ? 0x8000 : 0x80;
        offset += wideIndices ? 2 : 1;
        const index = value & (essentialBit - 1);
        const property = properties[index - 1];
        if (property !== undefined)
          itemProperties.push({ ...property, index, isEssential: (value & essentialBit) !== 0 });
      }
    }
  }
  return propertiesByItem;
}

function readTypes(infos: DataView): Map<number, string> {
  const types = new Map<number, string>();
  for (const { type, body } of readBoxes(infos, infos.getUint8(0) === 0 ? 6 : 8)) {
    const version = body.getUint8(0);
    if (type !== "infe" || version < 2) continue; // older entries have no type
    types.set(
      version === 2 ? body.getUint16(4) : body.getUint32(4),
      readFourCharacterCode(body, version === 2 ? 8 : 10),
    );
  }
  return types;
}

/** Reads the box `iref`, which has the references between items. */
function readReferences(meta: readonly Box[]): Pick<Items, "tiles" | "auxiliaries"> {
  const tiles = new Map<number, number[]>();
  const auxiliaries = new Map<number, number[]>();
  const append = (map: Map<number, number[]>, key: number, value: number) => {
    const list = map.get(key) ?? [];
    map.set(key, list);
    list.push(value);
  };
  for (const { body } of meta.filter(({ type }) => type === "iref")) {
    const wide = body.getUint8(0) > 0;
    const size = wide ? 4 : 2;
    for (const { type, body: reference } of readBoxes(body, 4)) {
      const read = (offset: number) => (wide ? reference.getUint32(offset) : reference.getUint16(offset));
      for (let remaining = reference.getUint16(size), offset = size + 2; remaining > 0; remaining--, offset += size) {
        if (type === "dimg") append(tiles, read(0), read(offset));
        if (type === "auxl") append(auxiliaries, read(offset), read(0));
      }
    }
  }
  return { tiles, auxiliaries };
}

/**
 * A part of an item. `method` is 0 for a part in the file, 1 for one in the box `idat`. A `length`
 * of 0 is rejected on reading.
 */
interface Extent {
  readonly method: number;
  readonly offset: number;
  readonly length: number;
}

function readExtents(locations: DataView, kind: string): Map<number, Extent[]> {
  const version = locations.getUint8(0);
  const sizes = locations.getUint16(4);
  const [offsetSize, lengthSize, baseSize, indexSize] = [
    sizes >> 12,
    (sizes >> 8) & 15,
    (sizes >> 4) & 15,
    version === 0 ? 0 : sizes & 15,
  ];
  let cursor = 6;
  const read = (size: number) => {
    if (size !== 0 && size !== 2 && size !== 4 && size !== 8) throw unreadableError("broken", kind);
    const value =
      size === 0
        ? 0
        : size === 2
          ? locations.getUint16(cursor)
          : size === 4
            ? locations.getUint32(cursor)
            : Number(locations.getBigUint64(cursor));
    cursor += size;
    return value;
  };
  const extentsByItem = new Map<number, Extent[]>();
  const wide = version === 2 ? 4 : 2;
  for (let remaining = read(wide); remaining > 0; remaining--) {
    const id = read(wide);
    const method = version === 0 ? 0 : read(2) & 15;
    read(2); // the data reference, which must be this file
    const base = read(baseSize);
    const itemExtents = extentsByItem.get(id) ?? [];
    extentsByItem.set(id, itemExtents);
    for (let extents = read(2); extents > 0; extents--) {
      read(indexSize);
      const offset = base + read(offsetSize);
      itemExtents.push({ method, offset, length: read(lengthSize) });
    }
  }
  return extentsByItem;
}

/** Bytes `start` … `end` − 1 of a view. Throws a RangeError if they are outside the view. */
function subView(view: DataView, start: number, end: number): DataView {
  if (start > end || end > view.byteLength) throw new RangeError("an item lies outside the file");
  return new DataView(view.buffer, view.byteOffset + start, end - start);
}
