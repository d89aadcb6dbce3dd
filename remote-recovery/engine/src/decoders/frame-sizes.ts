/**
 * Reads the sizes in coded frames of AV1 and HEVC. Decoders use these sizes, whatever the container
 * claims.
 */

export interface FrameSize {
  readonly width: number;
  readonly height: number;
}

/**
 * Encoders write only a few units. A small file with very many would take long to scan, once for
 * each tile that refers to them.
 */
const maxUnits = 1000;

/**
 * Limit of frames in an AV1 item, which has at most four layers. The decoder decodes all frames,
 * even those that it does not show.
 */
const maxFrames = 4;
/** Types of units (AV1 6.2.2). */
const obuTypes = { sequenceHeader: 1, frameHeader: 3, frame: 6, redundantFrameHeader: 7, tileList: 8 } as const;

/** Reads bits, highest first. Throws a RangeError after the last bit. */
function createBitReader(bytes: Uint8Array) {
  let position = 0;
  const read = (count: number): number => {
    let value = 0;
    for (let i = 0; i < count; i++, position++) {
      const byte = bytes[position >> 3];
      if (byte === undefined) throw new RangeError("the data ends before the last field");
      value = value * 2 + ((byte >> (7 - (position & 7))) & 1);
    }
    return value;
  };
  /** Reads an Exp-Golomb number (HEVC 9.2; AV1's `uvlc` is the same). */
  const readExpGolomb = (): number => {
    let zeros = 0;
    while (read(1) === 0) if (++zeros > 32) throw new RangeError("an Exp-Golomb number has more than 32 leading zeros");
    return 2 ** zeros - 1 + read(zeros);
  };
  return { read, readExpGolomb };
}

/**
 * Sizes in all sequence headers of an item's units (OBUs, AV1 5.3). Throws a RangeError if the item
 * is cut or has too many frames.
 */
export function readAv1FrameSizes(item: Uint8Array): FrameSize[] {
  const sizes: FrameSize[] = [];
  let units = 0;
  let frames = 0;
  for (let offset = 0; offset < item.length;) {
    if (++units > maxUnits) throw new RangeError("an item has more units than the limit");
    const obuHeader = item[offset++] ?? 0;
    if ((obuHeader & 4) !== 0) offset++; // extension header
    let length = item.length - offset;
    if ((obuHeader & 2) !== 0) {
      length = 0;
      for (let i = 0; ; i++) {
        const byte = item[offset++];
        if (byte === undefined || i === 8) throw new RangeError("a unit has an invalid length");
        length += (byte & 127) * 2 ** (7 * i);
        if (byte < 128) break;
      }
    }
    if (offset + length > item.length) throw new RangeError("a unit ends after its item");
    const type = (obuHeader >> 3) & 15;
    if (type === obuTypes.redundantFrameHeader || type === obuTypes.tileList)
      throw new RangeError("an item has a unit that pictures must not have");
    if ((type === obuTypes.frameHeader || type === obuTypes.frame) && ++frames > maxFrames)
      throw new RangeError("an item has more frames than the limit");
    if (type === obuTypes.sequenceHeader) sizes.push(readSequenceHeader(item.subarray(offset, offset + length)));
    offset += length;
  }
  return sizes;
}

/** Reads a sequence header (AV1 5.5) up to its largest width and height. */
function readSequenceHeader(unit: Uint8Array): FrameSize {
  const { read, readExpGolomb } = createBitReader(unit);
  read(3 + 1); // profile, still picture
  if (read(1) === 1) {
    read(5); // level; a reduced header ends here
  } else {
    let delayBits = 0;
    if (read(1) === 1) {
      read(32 + 32); // timing
      if (read(1) === 1) readExpGolomb();
      if (read(1) === 1) {
        delayBits = read(5) + 1;
        read(32 + 5 + 5);
      }
    }
    const hasDelays = read(1) === 1;
    for (let remainingPoints = read(5) + 1; remainingPoints > 0; remainingPoints--) {
      read(12);
      if (read(5) > 7) read(1);
      if (delayBits > 0 && read(1) === 1) read(delayBits + delayBits + 1);
      if (hasDelays && read(1) === 1) read(4);
    }
  }
  const widthBits = read(4) + 1;
  const heightBits = read(4) + 1;
  return { width: read(widthBits) + 1, height: read(heightBits) + 1 };
}

const spsUnitType = 33;

/**
 * Cropped sizes in all parameter sets of an HEVC item: in its configuration `hvcC` (ISO/IEC
 * 14496-15, 8.3.3) and among its units, each preceded by its length. Throws a RangeError if either
 * is cut.
 */
export function readHevcFrameSizes(configuration: DataView, item: Uint8Array): FrameSize[] {
  const sizes: FrameSize[] = [];
  let count = 0;
  const addUnit = (unit: Uint8Array) => {
    if (++count > maxUnits) throw new RangeError("an item has more units than the limit");
    sizes.push(...readHevcUnitSize(unit));
  };
  let offset = 23;
  for (let remainingArrays = configuration.getUint8(22); remainingArrays > 0; remainingArrays--) {
    offset++;
    const units = configuration.getUint16(offset);
    offset += 2;
    for (let i = 0; i < units; i++) {
      const length = configuration.getUint16(offset);
      if (offset + 2 + length > configuration.byteLength) throw new RangeError("a unit ends after the configuration");
      addUnit(new Uint8Array(configuration.buffer, configuration.byteOffset + offset + 2, length));
      offset += 2 + length;
    }
  }
  const lengthSize = (configuration.getUint8(21) & 3) + 1;
  for (offset = 0; offset < item.length;) {
    let length = 0;
    for (let i = 0; i < lengthSize; i++) length = length * 256 + (item[offset++] ?? 0);
    if (offset + length > item.length) throw new RangeError("a unit ends after its item");
    addUnit(item.subarray(offset, offset + length));
    offset += length;
  }
  return sizes;
}

/** Limit of pixels that a conformance window may crop: the padding of the last block. */
const maxCropping = 64;

/**
 * Size in a sequence parameter set of the base layer (HEVC 7.3.2.2), cropped by its conformance
 * window. Empty for other units.
 */
function readHevcUnitSize(unit: Uint8Array): FrameSize[] {
  const [firstByte = 0, secondByte = 0] = unit;
  const layer = ((firstByte & 1) << 5) | (secondByte >> 3);
  if (((firstByte >> 1) & 63) !== spsUnitType || layer !== 0) return [];
  // All fields that are read here are within the first hundred bytes.
  const { read, readExpGolomb } = createBitReader(removeEmulationPrevention(unit.subarray(2, 130)));
  read(4);
  const subLayerCount = read(3);
  read(1 + 88 + 8); // profile, tier and level
  const layerFlags = Array.from({ length: subLayerCount }, () => ({ profile: read(1) === 1, level: read(1) === 1 }));
  if (subLayerCount > 0) read(2 * (8 - subLayerCount));
  for (const { profile, level } of layerFlags) read((profile ? 88 : 0) + (level ? 8 : 0));
  readExpGolomb();
  const chromaFormat = readExpGolomb();
  if (chromaFormat === 3) read(1);
  const width = readExpGolomb();
  const height = readExpGolomb();
  if (read(1) === 0) return [{ width, height }];
  const subWidth = chromaFormat === 1 || chromaFormat === 2 ? 2 : 1;
  const subHeight = chromaFormat === 1 ? 2 : 1;
  const [left, right, top, bottom] = [readExpGolomb(), readExpGolomb(), readExpGolomb(), readExpGolomb()];
  const croppedSize = { width: subWidth * (left + right), height: subHeight * (top + bottom) };
  if (croppedSize.width > maxCropping || croppedSize.height > maxCropping)
    throw new RangeError("the conformance window crops more than the padding");
  return [{ width: width - croppedSize.width, height: height - croppedSize.height }];
}

/** Drops the 3 of each 0 0 3, which prevents start codes inside a unit (HEVC 7.3.1.1). */
function removeEmulationPrevention(bytes: Uint8Array): Uint8Array {
  return bytes.filter((byte, index) => !(byte === 3 && index >= 2 && bytes[index - 1] === 0 && bytes[index - 2] === 0));
}
