/**
 * AVIF and HEIC files put together for tests: grids of one picture, and files that lie about their
 * sizes.
 */
import { requireBox, readItems } from "../src/decoders/iso-boxes.ts";

export interface GridOptions {
  readonly columns: number;
  readonly rows: number;
  /** Of the whole picture; all tiles of it unless told. */
  readonly width?: number;
  readonly height?: number;
  /** What the property of the tiles says; the truth unless told. */
  readonly tile?: readonly [width: number, height: number];
  /** What the grid itself says of its size; that of the whole picture unless told. */
  readonly gridSize?: readonly [width: number, height: number];
  /** Tiles that are listed; all unless told. */
  readonly listedTiles?: number;
  /** Each tile has a plane of alpha: its own picture, which says to be so large. */
  readonly alpha?: readonly [width: number, height: number];
  /** More properties of the whole picture: its turn and mirror. */
  readonly extraProperties?: readonly Buffer[];
}

/** The one frame of a file, and what describes it. */
export interface FrameItem {
  readonly kind: "avif" | "heic";
  readonly content: Uint8Array;
  /** Without its size and colour profiles. */
  readonly properties: readonly (readonly [type: string, body: Uint8Array])[];
  readonly width: number;
  readonly height: number;
}

export function readFrameItem(source: Uint8Array): FrameItem {
  const file = new DataView(source.buffer, source.byteOffset, source.byteLength);
  const kind = Buffer.from(source.subarray(8, 12)).toString("latin1") === "avif" ? "avif" : "heic";
  const items = readItems(kind, file);
  const allProperties = items.properties.get(1) ?? [];
  const size = requireBox(allProperties, "ispe", kind);
  const properties = allProperties
    .filter(({ type }) => type !== "colr" && type !== "ispe")
    .map(({ type, body }) => [type, bytesOf(body)] as const);
  return { kind, content: items.contentOf(1), properties, width: size.getUint32(4), height: size.getUint32(8) };
}

/**
 * A file whose picture is a grid, each tile of which is the whole picture of `source`, a file of
 * one frame.
 */
export function makeGridFile(source: Uint8Array | FrameItem, grid: GridOptions): Buffer {
  const { kind, content, properties, ...size } = source instanceof Uint8Array ? readFrameItem(source) : source;
  const { columns, rows, extraProperties = [], tile = [size.width, size.height] } = grid;
  const { width = columns * tile[0], height = rows * tile[1], listedTiles = columns * rows } = grid;
  const [inWidth, inHeight] = grid.gridSize ?? [width, height];

  const tiles = Array.from({ length: listedTiles }, (_, index) => index + 2);
  const alpha = grid.alpha === undefined ? [] : tiles.map((id) => id + listedTiles);
  const ids = [1, ...tiles, ...alpha];
  const codedBoxes = properties.map(([type, body]) => box(type, body));
  const propertyBoxes = [
    ispe(width, height),
    ispe(...tile),
    ...codedBoxes,
    ispe(...(grid.alpha ?? tile)),
    auxiliary,
    ...extraProperties,
  ];
  const codedIndices = codedBoxes.map((_, index) => index + 3);
  const nextIndex = codedBoxes.length + 3;
  const pictureProperties = [
    1,
    ...codedIndices.filter((index) => properties[index - 3]?.[0] === "pixi"),
    ...extraProperties.map((_, index) => nextIndex + 2 + index),
  ];
  const propertiesFor = (id: number) =>
    id === 1
      ? pictureProperties
      : id <= listedTiles + 1
        ? [2, ...codedIndices]
        : [nextIndex, ...codedIndices, nextIndex + 1];
  const descriptor = Buffer.concat([Buffer.from([0, 1, rows - 1, columns - 1]), u32(inWidth), u32(inHeight)]);
  const codec = kind === "avif" ? "av01" : "hvc1";

  const makeMeta = (dataOffset: number) =>
    fullBox(
      "meta",
      0,
      fullBox("hdlr", 0, u32(0), Buffer.from("pict"), Buffer.alloc(13)),
      fullBox("pitm", 0, u16(1)),
      fullBox(
        "iloc",
        1,
        Buffer.from([0x44, 0]),
        u16(ids.length),
        ...ids.map((id) =>
          id === 1
            ? Buffer.concat([u16(id), u16(1), u16(0), u16(1), u32(0), u32(descriptor.length)])
            : Buffer.concat([u16(id), u16(0), u16(0), u16(1), u32(dataOffset), u32(content.length)]),
        ),
      ),
      fullBox(
        "iinf",
        0,
        u16(ids.length),
        ...ids.map((id) =>
          fullBox("infe", 2, u16(id), u16(0), Buffer.from(id === 1 ? "grid" : codec), Buffer.alloc(1)),
        ),
      ),
      fullBox(
        "iref",
        0,
        box("dimg", u16(1), u16(listedTiles), ...tiles.map(u16)),
        ...alpha.map((id) => box("auxl", u16(id), u16(1), u16(id - listedTiles))),
      ),
      box(
        "iprp",
        box("ipco", ...propertyBoxes),
        fullBox(
          "ipma",
          0,
          u32(ids.length),
          ...ids.map((id) => Buffer.from([id >> 8, id & 255, propertiesFor(id).length, ...propertiesFor(id)])),
        ),
      ),
      box("idat", descriptor),
    );
  const brand = kind === "avif" ? "avif" : "heic";
  const type = box("ftyp", Buffer.from(`${brand}\0\0\0\0mif1${brand}`, "latin1"));
  const dataOffset = type.length + makeMeta(0).length + 8;
  return Buffer.concat([type, makeMeta(dataOffset), box("mdat", content)]);
}

/** The file with another size in its first property `ispe`. */
export function withClaimedSize(source: Uint8Array, width: number, height: number): Buffer {
  const out = Buffer.from(source);
  const offset = out.indexOf("ispe");
  out.writeUInt32BE(width, offset + 8);
  out.writeUInt32BE(height, offset + 12);
  return out;
}

export function box(type: string, ...bodies: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(bodies);
  return Buffer.concat([u32(body.length + 8), Buffer.from(type, "latin1"), body]);
}

const fullBox = (type: string, version: number, ...bodies: readonly Uint8Array[]) =>
  box(type, Buffer.from([version, 0, 0, 0]), ...bodies);
const ispe = (width: number, height: number) => fullBox("ispe", 0, u32(width), u32(height));
const auxiliary = fullBox("auxC", 0, Buffer.from("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0"));
const bytesOf = (view: DataView) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

function u16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 255]);
}

function u32(value: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(value);
  return out;
}
