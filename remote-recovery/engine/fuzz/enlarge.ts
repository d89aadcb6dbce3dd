/** Files whose headers all claim a large size, while the content stays small. */
import { makeGridFile, readFrameItem } from "../tests/heif-files.ts";
import { crc32 } from "../tests/vectors.ts";

/** Writes another size to each place that states one. Leaves unknown kinds unchanged. */
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
    const frameItem = readFrameItem(file);
    const content = frameItem.kind === "avif" ? resizeAv1Item(frameItem.content, width, height) : frameItem.content;
    const properties =
      frameItem.kind === "avif"
        ? frameItem.properties
        : frameItem.properties.map(
            ([type, body]) => [type, type === "hvcC" ? resizeHevcConfiguration(body, width, height) : body] as const,
          );
    return makeGridFile({ ...frameItem, content, properties, width, height }, { columns: 1, rows: 1 });
  }
  return file;
}

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
 * Writes the size to an AV1 item's reduced sequence header, with sixteen bits per side. The fields
 * before the size (profile, two flags, level) take ten bits.
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
 * Writes the size to the parameter set of an `hvcC` configuration, without a conformance window.
 */
function resizeHevcConfiguration(configuration: Uint8Array, width: number, height: number): Buffer {
  const file = Buffer.from(configuration);
  let offset = 23;
  for (let arrays = file[22] ?? 0; arrays > 0; arrays--) {
    const type = (file[offset] ?? 0) & 63;
    const length = file.readUInt16BE(offset + 3); // each array contains one unit
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
  let bitOffset = 16 + 8 + 96; // unit header, parameter set id, one layer; profile, tier and level
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
