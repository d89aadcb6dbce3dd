/** Builds AVIF and HEIC files for tests: grids of one picture, and files that claim wrong sizes. */
import { requireBox, readItems } from "../src/decoders/iso-boxes.ts";

/** A copy of the file in which boxes of these types are free space, which readers skip. */
export function hideBoxes(source: Uint8Array, types: readonly string[]): Buffer {
  const out = Buffer.from(source);
  for (const type of types)
    for (let at = out.indexOf(type); at !== -1; at = out.indexOf(type, at + 4)) out.write("free", at, "latin1");
  return out;
}

export interface GridOptions {
  readonly columns: number;
  readonly rows: number;
  /** Size of the whole picture. Default: that of all tiles. */
  readonly width?: number;
  readonly height?: number;
  /** Size in the property of the tiles. Default: the true size. */
  readonly tile?: readonly [width: number, height: number];
  /** Size in the grid's descriptor. Default: that of the whole picture. */
  readonly gridSize?: readonly [width: number, height: number];
  /** Number of tiles that are listed. Default: all. */
  readonly listedTileCount?: number;
  /**
   * Gives each tile an alpha plane that claims this size; the plane's content is the picture
   * itself.
   */
  readonly alpha?: readonly [width: number, height: number];
  /** More properties of the whole picture: rotation and mirror. */
  readonly extraProperties?: readonly Buffer[];
}

/** The only frame of a file, and its properties. */
export interface FrameItem {
  readonly kind: "avif" | "heic";
  readonly content: Uint8Array;
  /** Properties of the frame without size and colour profiles. */
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
  return { kind, content: items.readContent(1), properties, width: size.getUint32(4), height: size.getUint32(8) };
}

/**
 * Makes a file whose picture is a grid. Each tile is the whole picture of `source`, a file of one
 * frame.
 */
export function makeGridFile(source: Uint8Array | FrameItem, grid: GridOptions): Buffer {
  const { kind, content, properties, ...size } = source instanceof Uint8Array ? readFrameItem(source) : source;
  const { columns, rows, extraProperties = [], tile = [size.width, size.height] } = grid;
  const { width = columns * tile[0], height = rows * tile[1], listedTileCount = columns * rows } = grid;
  const [gridWidth, gridHeight] = grid.gridSize ?? [width, height];

  const tileIds = Array.from({ length: listedTileCount }, (_, index) => index + 2);
  const alphaIds = grid.alpha === undefined ? [] : tileIds.map((id) => id + listedTileCount);
  const ids = [1, ...tileIds, ...alphaIds];
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
      : id <= listedTileCount + 1
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
        encodeBox("dimg", encodeUint16(1), encodeUint16(listedTileCount), ...tileIds.map(encodeUint16)),
        ...alphaIds.map((id) =>
          encodeBox("auxl", encodeUint16(id), encodeUint16(1), encodeUint16(id - listedTileCount)),
        ),
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
  const fileTypeBox = encodeBox("ftyp", Buffer.from(`${brand}\0\0\0\0mif1${brand}`, "latin1"));
  const dataOffset = fileTypeBox.length + makeMeta(0).length + 8;
  return Buffer.concat([fileTypeBox, makeMeta(dataOffset), encodeBox("mdat", content)]);
}

/** A copy of the file with another size in its first property `ispe`. */
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
