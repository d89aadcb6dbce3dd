/** Adds properties that libavif requires of an AVIF but viewers do not. */
import { readBoxes, readItems, requireBox, type Box, type Items } from "./iso-boxes.ts";
import { concatBytes, toDataView } from "./picture-file.ts";

/**
 * Adds missing `pixi` to pictures and missing `ispe` to alpha; null if nothing is missing. Appends
 * a new `meta` box to the file and turns the old one into free space, so that no offset changes.
 */
export function addMissingProperties(bytes: Uint8Array): Uint8Array | null {
  const file = toDataView(bytes);
  const meta = readBoxes(file, 0).find(({ type }) => type === "meta");
  if (meta === undefined) return null;
  const items = readItems("avif", file);
  const metaBoxes = readBoxes(meta.body, 4); // after version and flags
  const properties = requireBox(readBoxes(requireBox(metaBoxes, "iprp", "avif"), 0), "ipco", "avif");
  const count = readBoxes(properties, 0).length;
  const addedBoxes: Uint8Array[] = [];
  const associations = [...items.properties].map(([item, itemProperties]) => {
    const boxes = listMissingBoxes(items, item);
    const indices = boxes.map((_, position) => count + addedBoxes.length + position + 1);
    addedBoxes.push(...boxes);
    return encodeAssociation(item, [
      ...itemProperties.map(({ index, isEssential }) => index | (isEssential ? 0x8000 : 0)),
      ...indices,
    ]);
  });
  if (addedBoxes.length === 0) return null;

  const newProperties = [
    encodeBox("ipco", toBytes(properties), ...addedBoxes),
    // version 1 and flags 1: items of 32 bits, indices of 16
    encodeBox("ipma", Uint8Array.of(1, 0, 0, 1), encodeUint32(associations.length), ...associations),
  ];
  const newMeta = encodeBox(
    "meta",
    new Uint8Array(4),
    ...metaBoxes.map((box) =>
      box.type === "iprp" ? encodeBox("iprp", ...newProperties) : encodeBox(box.type, toBytes(box.body)),
    ),
  );
  const out = concatBytes([bytes, newMeta]);
  out.set(encodeText("free"), meta.start - bytes.byteOffset + 4);
  return out;
}

function listMissingBoxes(items: Items, item: number): Uint8Array[] {
  if (!["av01", "grid"].includes(items.types.get(item) ?? "")) return [];
  const find = (owner: number | undefined, type: string): Box | undefined =>
    owner === undefined ? undefined : items.properties.get(owner)?.find((property) => property.type === type);
  const configuration = find(item, "av1C") ?? find(items.tiles.get(item)?.[0], "av1C");
  const owner = [...items.auxiliaries].find(([, planes]) => planes.includes(item))?.[0];
  const ownersSize = find(owner, "ispe");
  return [
    ...(find(item, "pixi") === undefined && configuration !== undefined ? [encodePixi(configuration.body)] : []),
    ...(find(item, "ispe") === undefined && ownersSize !== undefined
      ? [encodeBox("ispe", toBytes(ownersSize.body))]
      : []),
  ];
}

/** Bits of each channel (ISO/IEC 23008-12, 6.5.6), from `av1C` (AV1 in ISOBMFF, 2.3.3). */
function encodePixi(configuration: DataView): Uint8Array {
  const flags = configuration.getUint8(2);
  const depth = (flags & 0x40) === 0 ? 8 : (flags & 0x20) === 0 ? 10 : 12;
  const channels = (flags & 0x10) === 0 ? [depth, depth, depth] : [depth];
  return encodeBox("pixi", Uint8Array.of(0, 0, 0, 0, channels.length, ...channels));
}

function encodeAssociation(item: number, indices: readonly number[]): Uint8Array {
  return concatBytes([
    encodeUint32(item),
    Uint8Array.of(indices.length, ...indices.flatMap((index) => [index >> 8, index & 0xff])),
  ]);
}

function encodeBox(type: string, ...pieces: readonly Uint8Array[]): Uint8Array {
  const body = concatBytes(pieces);
  return concatBytes([encodeUint32(8 + body.length), encodeText(type), body]);
}

function encodeText(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function encodeUint32(value: number): Uint8Array {
  const out = new Uint8Array(4);
  toDataView(out).setUint32(0, value);
  return out;
}

function toBytes({ buffer, byteOffset, byteLength }: DataView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
