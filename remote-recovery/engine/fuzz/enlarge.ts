/**
 * Files whose headers say that they are large, all of them alike, while what follows stays as
 * little as it was.
 */
import { makeGridFile, readFrameItem } from "../tests/heif-files.ts";
import { crc32 } from "../tests/vectors.ts";

/**
 * The same file with another size in each place that says one. A kind that is not known here stays
 * as it is.
 */
export function enlargeFile(bytes: Uint8Array, width: number, height: number): Uint8Array {
  const file = Buffer.from(bytes);
  const codeAt = (offset: number) => file.toString("latin1", offset, offset + 4);
  if (file[0] === 0xff && file[1] === 0xd8) return enlargeJpeg(file, width, height);
  if (codeAt(12) === "IHDR") {
    file.writeUInt32BE(width, 16);
    file.writeUInt32BE(height, 20);
    file.writeUInt32BE(crc32(file.subarray(12, 29)), 29);
  } else if (codeAt(8) === "WEBP") {
    const [w, h] = [Math.min(width, 16383), Math.min(height, 16383)];
    for (
      let offset = 12;
      offset + 16 < file.length;
      offset += 8 + file.readUInt32LE(offset + 4) + (file.readUInt32LE(offset + 4) & 1)
    ) {
      if (codeAt(offset) === "VP8X") {
        file.writeUIntLE(w - 1, offset + 12, 3);
        file.writeUIntLE(h - 1, offset + 15, 3);
      } else if (codeAt(offset) === "VP8 ") {
        file.writeUInt16LE(w, offset + 14);
        file.writeUInt16LE(h, offset + 16);
      } else if (codeAt(offset) === "VP8L") {
        file.writeUInt32LE(
          ((file.readUInt32LE(offset + 9) & 0xf0000000) | ((h - 1) << 14) | (w - 1)) >>> 0,
          offset + 9,
        );
      }
    }
  } else if (codeAt(8) === "avif" || codeAt(8) === "heic") {
    const part = readFrameItem(file);
    const content = part.kind === "avif" ? resizeAv1Item(part.content, width, height) : part.content;
    const properties =
      part.kind === "avif"
        ? part.properties
        : part.properties.map(
            ([type, body]) => [type, type === "hvcC" ? resizeHevcConfiguration(body, width, height) : body] as const,
          );
    return makeGridFile({ ...part, content, properties, width, height }, { columns: 1, rows: 1 });
  }
  return file;
}

/** The first frame header of a JPEG. */
function enlargeJpeg(file: Buffer, width: number, height: number): Buffer {
  for (let offset = 2; offset + 9 < file.length && file[offset] === 0xff; offset += 2 + file.readUInt16BE(offset + 2)) {
    const marker = file[offset + 1] ?? 0;
    if (marker < 0xc0 || marker > 0xc2) continue;
    file.writeUInt16BE(height, offset + 5);
    file.writeUInt16BE(width, offset + 7);
    break;
  }
  return file;
}

const toBits = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
const fromBits = (bits: string) =>
  Buffer.from(
    Array.from({ length: Math.ceil(bits.length / 8) }, (_, index) =>
      parseInt(bits.slice(index * 8, index * 8 + 8).padEnd(8, "0"), 2),
    ),
  );

/**
 * An AV1 item whose reduced sequence header (profile, two flags, level: ten bits) says this size,
 * in sixteen bits each.
 */
function resizeAv1Item(item: Uint8Array, width: number, height: number): Buffer {
  const unitOffset = item.indexOf(0x0a);
  const length = item[unitOffset + 1] ?? 0;
  const bits = toBits(item.subarray(unitOffset + 2, unitOffset + 2 + length));
  const [w, h] = [parseInt(bits.slice(10, 14), 2) + 1, parseInt(bits.slice(14, 18), 2) + 1];
  const resizedBits =
    bits.slice(0, 10) +
    "11111111" +
    (width - 1).toString(2).padStart(16, "0") +
    (height - 1).toString(2).padStart(16, "0") +
    bits.slice(18 + w + h);
  const unit = fromBits(resizedBits);
  return Buffer.concat([
    item.subarray(0, unitOffset + 1),
    Uint8Array.of(unit.length),
    unit,
    item.subarray(unitOffset + 2 + length),
  ]);
}

/**
 * A configuration `hvcC` whose parameter set says this size, without a conformance window of its
 * own.
 */
function resizeHevcConfiguration(configuration: Uint8Array, width: number, height: number): Buffer {
  const file = Buffer.from(configuration);
  let offset = 23;
  for (let arrays = file[22] ?? 0; arrays > 0; arrays--) {
    const type = (file[offset] ?? 0) & 63;
    const length = file.readUInt16BE(offset + 3); // one unit in each
    if (type === 33) {
      const unit = enlargeSps(file.subarray(offset + 5, offset + 5 + length), width, height);
      return Buffer.concat([
        file.subarray(0, offset + 3),
        Uint8Array.of(unit.length >> 8, unit.length & 255),
        unit,
        file.subarray(offset + 5 + length),
      ]);
    }
    offset += 5 + length;
  }
  return file;
}

function enlargeSps(unit: Buffer, width: number, height: number): Buffer {
  const unescaped = unit.filter((byte, index) => !(byte === 3 && unit[index - 1] === 0 && unit[index - 2] === 0));
  const bits = toBits(unescaped);
  let bitOffset = 16 + 8 + 96; // unit header; numbers of the set and its layers (one); profile, tier and level
  const readExpGolomb = () => {
    const zeros = bits.indexOf("1", bitOffset) - bitOffset;
    const value = parseInt(bits.slice(bitOffset + zeros, bitOffset + 2 * zeros + 1), 2) - 1;
    bitOffset += 2 * zeros + 1;
    return value;
  };
  readExpGolomb();
  if (readExpGolomb() === 3) bitOffset++;
  const sizeOffset = bitOffset;
  readExpGolomb();
  readExpGolomb();
  if (bits[bitOffset++] === "1") for (let i = 0; i < 4; i++) readExpGolomb();
  const encodeExpGolomb = (value: number) =>
    (value + 1).toString(2).padStart(2 * (value + 1).toString(2).length - 1, "0");
  const out = fromBits(
    `${bits.slice(0, sizeOffset)}${encodeExpGolomb(width)}${encodeExpGolomb(height)}0${bits.slice(bitOffset)}`,
  );
  const escaped: number[] = [];
  for (const byte of out) {
    if (byte <= 3 && escaped.at(-1) === 0 && escaped.at(-2) === 0) escaped.push(3);
    escaped.push(byte);
  }
  return Buffer.from(escaped);
}
