/**
 * AVIF and HEIC files put together for tests: grids of one picture, and files that lie about their
 * sizes.
 */
import { find, readItems } from "../src/decoders/iso-boxes.ts";

export interface Grid {
  readonly columns: number;
  readonly rows: number;
  /** Of the whole picture; all tiles of it unless told. */
  readonly width?: number;
  readonly height?: number;
  /** What the property of the tiles says; the truth unless told. */
  readonly tile?: readonly [width: number, height: number];
  /** What the grid itself says of its size; that of the whole picture unless told. */
  readonly inside?: readonly [width: number, height: number];
  /** Tiles that are listed; all unless told. */
  readonly listed?: number;
  /** Each tile has a plane of alpha: its own picture, which says to be so large. */
  readonly alpha?: readonly [width: number, height: number];
  /** More properties of the whole picture: its turn and mirror. */
  readonly more?: readonly Buffer[];
}

/** The one frame of a file, and what describes it. */
export interface Part {
  readonly kind: "avif" | "heic";
  readonly content: Uint8Array;
  /** Without its size and colour profiles. */
  readonly properties: readonly (readonly [type: string, body: Uint8Array])[];
  readonly width: number;
  readonly height: number;
}

export function partOf(source: Uint8Array): Part {
  const file = new DataView(source.buffer, source.byteOffset, source.byteLength);
  const kind = Buffer.from(source.subarray(8, 12)).toString("latin1") === "avif" ? "avif" : "heic";
  const items = readItems(kind, file);
  const all = items.properties.get(1) ?? [];
  const size = find(all, "ispe", kind);
  const properties = all
    .filter(({ type }) => type !== "colr" && type !== "ispe")
    .map(({ type, body }) => [type, bytesOf(body)] as const);
  return { kind, content: items.contentOf(1), properties, width: size.getUint32(4), height: size.getUint32(8) };
}

/**
 * A file whose picture is a grid, each tile of which is the whole picture of `source`, a file of
 * one frame.
 */
export function gridOf(source: Uint8Array | Part, grid: Grid): Buffer {
  const { kind, content, properties, ...size } = source instanceof Uint8Array ? partOf(source) : source;
  const { columns, rows, more = [], tile = [size.width, size.height] } = grid;
  const { width = columns * tile[0], height = rows * tile[1], listed = columns * rows } = grid;
  const [inWidth, inHeight] = grid.inside ?? [width, height];

  const tiles = Array.from({ length: listed }, (_, index) => index + 2);
  const alpha = grid.alpha === undefined ? [] : tiles.map((id) => id + listed);
  const ids = [1, ...tiles, ...alpha];
  const coded = properties.map(([type, body]) => box(type, body));
  const described = [ispe(width, height), ispe(...tile), ...coded, ispe(...(grid.alpha ?? tile)), auxiliary, ...more];
  const codedAt = coded.map((_, index) => index + 3);
  const afterCoded = coded.length + 3;
  const ofWhole = [
    1,
    ...codedAt.filter((at) => properties[at - 3]?.[0] === "pixi"),
    ...more.map((_, index) => afterCoded + 2 + index),
  ];
  const usesOf = (id: number) =>
    id === 1 ? ofWhole : id <= listed + 1 ? [2, ...codedAt] : [afterCoded, ...codedAt, afterCoded + 1];
  const descriptor = Buffer.concat([Buffer.from([0, 1, rows - 1, columns - 1]), u32(inWidth), u32(inHeight)]);
  const codec = kind === "avif" ? "av01" : "hvc1";

  const metaOf = (dataAt: number) =>
    full(
      "meta",
      0,
      full("hdlr", 0, u32(0), Buffer.from("pict"), Buffer.alloc(13)),
      full("pitm", 0, u16(1)),
      full(
        "iloc",
        1,
        Buffer.from([0x44, 0]),
        u16(ids.length),
        ...ids.map((id) =>
          id === 1
            ? Buffer.concat([u16(id), u16(1), u16(0), u16(1), u32(0), u32(descriptor.length)])
            : Buffer.concat([u16(id), u16(0), u16(0), u16(1), u32(dataAt), u32(content.length)]),
        ),
      ),
      full(
        "iinf",
        0,
        u16(ids.length),
        ...ids.map((id) => full("infe", 2, u16(id), u16(0), Buffer.from(id === 1 ? "grid" : codec), Buffer.alloc(1))),
      ),
      full(
        "iref",
        0,
        box("dimg", u16(1), u16(listed), ...tiles.map(u16)),
        ...alpha.map((id) => box("auxl", u16(id), u16(1), u16(id - listed))),
      ),
      box(
        "iprp",
        box("ipco", ...described),
        full(
          "ipma",
          0,
          u32(ids.length),
          ...ids.map((id) => Buffer.from([id >> 8, id & 255, usesOf(id).length, ...usesOf(id)])),
        ),
      ),
      box("idat", descriptor),
    );
  const brand = kind === "avif" ? "avif" : "heic";
  const type = box("ftyp", Buffer.from(`${brand}\0\0\0\0mif1${brand}`, "latin1"));
  const dataAt = type.length + metaOf(0).length + 8;
  return Buffer.concat([type, metaOf(dataAt), box("mdat", content)]);
}

/** The file with another size in its first property `ispe`. */
export function sayingSize(source: Uint8Array, width: number, height: number): Buffer {
  const out = Buffer.from(source);
  const at = out.indexOf("ispe");
  out.writeUInt32BE(width, at + 8);
  out.writeUInt32BE(height, at + 12);
  return out;
}

export function box(type: string, ...bodies: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(bodies);
  return Buffer.concat([u32(body.length + 8), Buffer.from(type, "latin1"), body]);
}

const full = (type: string, version: number, ...bodies: readonly Uint8Array[]) =>
  box(type, Buffer.from([version, 0, 0, 0]), ...bodies);
const ispe = (width: number, height: number) => full("ispe", 0, u32(width), u32(height));
const auxiliary = full("auxC", 0, Buffer.from("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0"));
const bytesOf = (view: DataView) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

function u16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 255]);
}

function u32(value: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(value);
  return out;
}
