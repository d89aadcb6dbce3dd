/**
 * Files whose headers say that they are large, all of them alike, while what follows stays as
 * little as it was.
 */
import { gridOf, partOf } from "../tests/heif-files.ts";
import { crc32 } from "../tests/vectors.ts";

/**
 * The same file with another size in each place that says one. A kind that is not known here stays
 * as it is.
 */
export function enlarged(bytes: Uint8Array, width: number, height: number): Uint8Array {
  const file = Buffer.from(bytes);
  const name = (at: number) => file.toString("latin1", at, at + 4);
  if (file[0] === 0xff && file[1] === 0xd8) return enlargedJpeg(file, width, height);
  if (name(12) === "IHDR") {
    file.writeUInt32BE(width, 16);
    file.writeUInt32BE(height, 20);
    file.writeUInt32BE(crc32(file.subarray(12, 29)), 29);
  } else if (name(8) === "WEBP") {
    const [w, h] = [Math.min(width, 16383), Math.min(height, 16383)];
    for (let at = 12; at + 16 < file.length; at += 8 + file.readUInt32LE(at + 4) + (file.readUInt32LE(at + 4) & 1)) {
      if (name(at) === "VP8X") {
        file.writeUIntLE(w - 1, at + 12, 3);
        file.writeUIntLE(h - 1, at + 15, 3);
      } else if (name(at) === "VP8 ") {
        file.writeUInt16LE(w, at + 14);
        file.writeUInt16LE(h, at + 16);
      } else if (name(at) === "VP8L") {
        file.writeUInt32LE(((file.readUInt32LE(at + 9) & 0xf0000000) | ((h - 1) << 14) | (w - 1)) >>> 0, at + 9);
      }
    }
  } else if (name(8) === "avif" || name(8) === "heic") {
    const part = partOf(file);
    const content = part.kind === "avif" ? withBits(part.content, width, height) : part.content;
    const properties =
      part.kind === "avif"
        ? part.properties
        : part.properties.map(([type, body]) => [type, type === "hvcC" ? withSps(body, width, height) : body] as const);
    return gridOf({ ...part, content, properties, width, height }, { columns: 1, rows: 1 });
  }
  return file;
}

/** The first frame header of a JPEG. */
function enlargedJpeg(file: Buffer, width: number, height: number): Buffer {
  for (let at = 2; at + 9 < file.length && file[at] === 0xff; at += 2 + file.readUInt16BE(at + 2)) {
    const marker = file[at + 1] ?? 0;
    if (marker < 0xc0 || marker > 0xc2) continue;
    file.writeUInt16BE(height, at + 5);
    file.writeUInt16BE(width, at + 7);
    break;
  }
  return file;
}

const bitsIn = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
const bytesOf = (bits: string) =>
  Buffer.from(
    Array.from({ length: Math.ceil(bits.length / 8) }, (_, at) =>
      parseInt(bits.slice(at * 8, at * 8 + 8).padEnd(8, "0"), 2),
    ),
  );

/**
 * An AV1 item whose reduced sequence header (profile, two flags, level: ten bits) says this size,
 * in sixteen bits each.
 */
function withBits(item: Uint8Array, width: number, height: number): Buffer {
  const at = item.indexOf(0x0a);
  const length = item[at + 1] ?? 0;
  const bits = bitsIn(item.subarray(at + 2, at + 2 + length));
  const [w, h] = [parseInt(bits.slice(10, 14), 2) + 1, parseInt(bits.slice(14, 18), 2) + 1];
  const sized =
    bits.slice(0, 10) +
    "11111111" +
    (width - 1).toString(2).padStart(16, "0") +
    (height - 1).toString(2).padStart(16, "0") +
    bits.slice(18 + w + h);
  const unit = bytesOf(sized);
  return Buffer.concat([item.subarray(0, at + 1), Uint8Array.of(unit.length), unit, item.subarray(at + 2 + length)]);
}

/**
 * A configuration `hvcC` whose parameter set says this size, without a conformance window of its
 * own.
 */
function withSps(configuration: Uint8Array, width: number, height: number): Buffer {
  const file = Buffer.from(configuration);
  let at = 23;
  for (let arrays = file[22] ?? 0; arrays > 0; arrays--) {
    const type = (file[at] ?? 0) & 63;
    const length = file.readUInt16BE(at + 3); // one unit in each
    if (type === 33) {
      const unit = enlargedSps(file.subarray(at + 5, at + 5 + length), width, height);
      return Buffer.concat([
        file.subarray(0, at + 3),
        Uint8Array.of(unit.length >> 8, unit.length & 255),
        unit,
        file.subarray(at + 5 + length),
      ]);
    }
    at += 5 + length;
  }
  return file;
}

function enlargedSps(unit: Buffer, width: number, height: number): Buffer {
  const plain = unit.filter((byte, at) => !(byte === 3 && unit[at - 1] === 0 && unit[at - 2] === 0));
  const bits = bitsIn(plain);
  let at = 16 + 8 + 96; // unit header; numbers of the set and its layers (one); profile, tier and level
  const number = () => {
    const zeros = bits.indexOf("1", at) - at;
    const value = parseInt(bits.slice(at + zeros, at + 2 * zeros + 1), 2) - 1;
    at += 2 * zeros + 1;
    return value;
  };
  number();
  if (number() === 3) at++;
  const sizeAt = at;
  number();
  number();
  if (bits[at++] === "1") for (let i = 0; i < 4; i++) number();
  const coded = (value: number) => (value + 1).toString(2).padStart(2 * (value + 1).toString(2).length - 1, "0");
  const out = bytesOf(`${bits.slice(0, sizeAt)}${coded(width)}${coded(height)}0${bits.slice(at)}`);
  const escaped: number[] = [];
  for (const byte of out) {
    if (byte <= 3 && escaped.at(-1) === 0 && escaped.at(-2) === 0) escaped.push(3);
    escaped.push(byte);
  }
  return Buffer.from(escaped);
}
