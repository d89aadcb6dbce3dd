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
    .map(({ type, body }) => [type, toBytes(body)] as const);
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
  const [gridWidth, gridHeight] = grid.gridSize ?? [width, height];

  const tiles = Array.from({ length: listedTiles }, (_, index) => index + 2);
  const alpha = grid.alpha === undefined ? [] : tiles.map((id) => id + listedTiles);
  const ids = [1, ...tiles, ...alpha];
  const codedBoxes = properties.map(([type, body]) => encodeBox(type, body));
  const propertyBoxes = [
    encodeIspe(width, height),
    encodeIspe(...tile),
    ...codedBoxes,
    encodeIspe(...(grid.alpha ?? tile)),
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
  const descriptor = Buffer.concat([
    Buffer.from([0, 1, rows - 1, columns - 1]),
    encodeUint32(gridWidth),
    encodeUint32(gridHeight),
  ]);
  const codec = kind === "avif" ? "av01" : "hvc1";

  const makeMeta = (dataOffset: number) =>
    encodeFullBox(
      "meta",
      0,
      encodeFullBox("hdlr", 0, encodeUint32(0), Buffer.from("pict"), Buffer.alloc(13)),
      encodeFullBox("pitm", 0, encodeUint16(1)),
      encodeFullBox(
        "iloc",
        1,
        Buffer.from([0x44, 0]),
        encodeUint16(ids.length),
        ...ids.map((id) =>
          id === 1
            ? Buffer.concat([
                encodeUint16(id),
                encodeUint16(1),
                encodeUint16(0),
                encodeUint16(1),
                encodeUint32(0),
                encodeUint32(descriptor.length),
              ])
            : Buffer.concat([
                encodeUint16(id),
                encodeUint16(0),
                encodeUint16(0),
                encodeUint16(1),
                encodeUint32(dataOffset),
                encodeUint32(content.length),
              ]),
        ),
      ),
      encodeFullBox(
        "iinf",
        0,
        encodeUint16(ids.length),
        ...ids.map((id) =>
          encodeFullBox(
            "infe",
            2,
            encodeUint16(id),
            encodeUint16(0),
            Buffer.from(id === 1 ? "grid" : codec),
            Buffer.alloc(1),
          ),
        ),
      ),
      encodeFullBox(
        "iref",
        0,
        encodeBox("dimg", encodeUint16(1), encodeUint16(listedTiles), ...tiles.map(encodeUint16)),
        ...alpha.map((id) => encodeBox("auxl", encodeUint16(id), encodeUint16(1), encodeUint16(id - listedTiles))),
      ),
      encodeBox(
        "iprp",
        encodeBox("ipco", ...propertyBoxes),
        encodeFullBox(
          "ipma",
          0,
          encodeUint32(ids.length),
          ...ids.map((id) => Buffer.from([id >> 8, id & 255, propertiesFor(id).length, ...propertiesFor(id)])),
        ),
      ),
      encodeBox("idat", descriptor),
    );
  const brand = kind === "avif" ? "avif" : "heic";
  const type = encodeBox("ftyp", Buffer.from(`${brand}\0\0\0\0mif1${brand}`, "latin1"));
  const dataOffset = type.length + makeMeta(0).length + 8;
  return Buffer.concat([type, makeMeta(dataOffset), encodeBox("mdat", content)]);
}

/** The file with another size in its first property `ispe`. */
export function withClaimedSize(source: Uint8Array, width: number, height: number): Buffer {
  const out = Buffer.from(source);
  const offset = out.indexOf("ispe");
  out.writeUInt32BE(width, offset + 8);
  out.writeUInt32BE(height, offset + 12);
  return out;
}

export function encodeBox(type: string, ...bodies: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(bodies);
  return Buffer.concat([encodeUint32(body.length + 8), Buffer.from(type, "latin1"), body]);
}

const encodeFullBox = (type: string, version: number, ...bodies: readonly Uint8Array[]) =>
  encodeBox(type, Buffer.from([version, 0, 0, 0]), ...bodies);
const encodeIspe = (width: number, height: number) =>
  encodeFullBox("ispe", 0, encodeUint32(width), encodeUint32(height));
const auxiliary = encodeFullBox("auxC", 0, Buffer.from("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0"));
const toBytes = (view: DataView) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

function encodeUint16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 255]);
}

function encodeUint32(value: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(value);
  return out;
}
