import { makeGridFile, readFrameItem, withClaimedSize, type GridOptions } from "../../tests/heif-files.ts";
import { readSample, readPhoto } from "../../tests/vectors.ts";
import { PortalError } from "@relicario/shared/errors";
import { loadCodecInNode, loadModulesInNode } from "../load-engine.ts";
import { decodePicture, estimateMemory, type CodecName } from "./decode.ts";
import { decodeJpeg } from "./decode.ts";
import { readAv1FrameSizes } from "./frame-sizes.ts";
import { readHeader } from "./header.ts";

const modules = new Map<CodecName, Promise<WebAssembly.Module>>();
const requestedCodecs: CodecName[] = [];
const loadCodec = (name: CodecName) => {
  if (name === "jpeg" || name === "png") throw new Error("the file is neither AVIF nor HEIC");
  requestedCodecs.push(name);
  const pending = modules.get(name) ?? loadCodecInNode(name);
  modules.set(name, pending);
  return pending;
};
beforeEach(() => void requestedCodecs.splice(0));

/** Error of decoding, after checking that no codec was loaded. */
async function catchRefusalWithoutCodec(bytes: Uint8Array): Promise<unknown> {
  const error: unknown = await decodePicture(bytes, loadCodec).catch((thrown: unknown) => thrown);
  expect(requestedCodecs).toEqual([]);
  return error instanceof PortalError ? { code: error.code, ...error.details } : error;
}
const createBrokenError = (kind: string) => ({ code: "picture_unreadable", reason: "broken", kind });

describe.each(["avif", "heic"] as const)("a picture of kind %s", (kind) => {
  const readOriginal = () => readSample(`rocket.${kind}`);
  const makeGrid = (options: Partial<GridOptions> = {}) =>
    makeGridFile(readOriginal(), { columns: 2, rows: 3, ...options });

  it.each([
    [160, 107],
    [64, 64],
    [321, 214],
    [320, 213],
    [640, 428],
    [8000, 6000],
  ])("is not decoded when the file claims %i × %i and its frame has another size", async (width, height) => {
    expect(await catchRefusalWithoutCodec(withClaimedSize(readOriginal(), width, height))).toEqual(
      createBrokenError(kind),
    );
  });

  it("is not decoded when the file has a box twice, because readers might disagree on which to use", async () => {
    for (const type of ["pitm", "iloc", "iprp"]) {
      const file = readOriginal();
      const meta = file.indexOf("meta") - 4;
      const offset = file.indexOf(type) - 4;
      const duplicated = Buffer.concat([
        file.subarray(0, offset),
        file.subarray(offset, offset + file.readUInt32BE(offset)),
        file.subarray(offset),
      ]);
      duplicated.writeUInt32BE(file.readUInt32BE(meta) + file.readUInt32BE(offset), meta);
      expect(await catchRefusalWithoutCodec(duplicated)).toEqual(createBrokenError(kind));
    }
  });

  it("is not decoded when a part of the picture has length 0", async () => {
    const file = Buffer.from(readOriginal());
    const offset = file.indexOf("iloc");
    const length = file.indexOf(Buffer.from([0, 1]), offset + 14) + 2 + 4; // after the number of extents and the offset
    file.writeUInt32BE(0, length);
    expect(await catchRefusalWithoutCodec(file)).toEqual(createBrokenError(kind));
  });

  it("is read as a grid of tiles, the last of which may extend beyond the picture", async () => {
    for (const [width, height] of [
      [640, 642],
      [600, 500],
    ] as const) {
      const picture = await decodePicture(makeGrid({ width, height }), loadCodec);
      expect([picture.width, picture.height]).toEqual([width, height]);
      const readRow = (y: number, x: number) =>
        Buffer.from(picture.rgba.subarray((y * width + x) * 4, (y * width + x + 200) * 4));
      expect(readRow(214 + 20, 320 + 10).equals(readRow(20, 10))).toBe(true); // colours match across the edges of tiles
      picture.release();
    }
  });

  it.each<[string, Partial<GridOptions>]>([
    ["tiles that claim to be smaller than their frames", { tile: [160, 107] }],
    ["tiles that claim to be larger than their frames", { tile: [640, 428], width: 640, height: 642 }],
    ["another size than its descriptor", { gridSize: [600, 642] }],
    ["a size that its tiles do not fill", { width: 641, height: 642 }],
    ["a row of tiles outside", { width: 640, height: 428 }],
    ["a tile too few", { listedTileCount: 5 }],
    ["a tile too many", { listedTileCount: 7 }],
    ["planes of alpha that claim to be smaller than their frames", { alpha: [160, 107] }],
  ])("is not decoded as a grid with %s", async (_, options) => {
    expect(await catchRefusalWithoutCodec(makeGrid(options))).toEqual(createBrokenError(kind));
  });

  it("is too large as a grid of more than 52 million pixels", async () => {
    expect(await catchRefusalWithoutCodec(makeGrid({ columns: 28, rows: 28 }))).toEqual({
      code: "picture_too_large",
      width: 8960,
      height: 5992,
    });
  });

  it("counts as damaged wherever the file is cut", () => {
    for (const file of [readOriginal(), makeGrid()]) {
      for (let fraction = 0.004; fraction < 1; fraction += 0.037)
        expect(() => readHeader(file.subarray(0, Math.floor(file.length * fraction)))).toThrow("picture_unreadable");
      expect(() => readHeader(file.subarray(0, file.length - 1))).toThrow("picture_unreadable");
    }
  });

  it("is read with alpha and odd sides; alpha raises the estimated memory", async () => {
    const picture = await decodePicture(readSample(`rocket-odd-alpha.${kind}`), loadCodec);
    expect([picture.width, picture.height]).toEqual([321, 215]);
    expect([picture.rgba[3], picture.rgba[(214 * 321 + 320) * 4 + 3]]).toEqual([0, 255]);
    picture.release();
    expect(readHeader(readSample(`rocket-odd-alpha.${kind}`)).extraBytesPerPixel).toBeGreaterThan(
      readHeader(readOriginal()).extraBytesPerPixel,
    );
  });
});

it("an animated AVIF is refused with the name of its kind", async () => {
  expect(await catchRefusalWithoutCodec(readSample("rocket-animated.avif"))).toEqual({
    code: "picture_unreadable",
    reason: "unsupported",
    kind: "animated_avif",
  });
});

it("a codec fails when it asks for more memory than its limit", async () => {
  const [{ jpeg }, file] = [await loadModulesInNode(), readPhoto("sunset-4272x2848.jpg")];
  (await decodeJpeg(file, jpeg, estimateMemory(readHeader(file), file.length))).release();
  await expect(decodeJpeg(file, jpeg, 40_000_000)).rejects.toBeDefined();
});

it("a grid of very many tiles is read, but not an item of very many units or a grid of small tiles", async () => {
  const tile = readSample("rocket.avif");
  expect(readHeader(makeGridFile(tile, { columns: 200, rows: 60 })).width).toBe(200 * 320);
  expect(() =>
    readAv1FrameSizes(new Uint8Array(2002).fill(0x12).map((byte, index) => (index % 2 === 0 ? byte : 0))),
  ).toThrow(RangeError);
  expect(await catchRefusalWithoutCodec(makeGridFile(tile, { columns: 80, rows: 80, tile: [63, 64] }))).toEqual(
    createBrokenError("avif"),
  );
});

describe("readAv1FrameSizes", () => {
  it("reads a full sequence header with timing and operating points", () => {
    const bits = [
      "000",
      "0",
      "0", // profile 0, not still, not reduced
      "1",
      "0".repeat(64),
      "1",
      "00101",
      "1", // timing, equal intervals, uvlc 4, decoder model
      "00111",
      "0".repeat(32 + 10), // 8 bits of delay
      "1",
      "00001", // initial delays, two points
      "000000000000",
      "01000",
      "1",
      "1",
      "0".repeat(17),
      "1",
      "0000", // level 8 with a tier, a model, a delay
      "000000000000",
      "00000",
      "0",
      "0", // none
      "1001",
      "1000",
      (639).toString(2).padStart(10, "0"),
      (426).toString(2).padStart(9, "0"),
    ].join("");
    const body = Array.from({ length: Math.ceil(bits.length / 8) }, (_, index) =>
      parseInt(bits.slice(index * 8, index * 8 + 8).padEnd(8, "0"), 2),
    );
    expect(readAv1FrameSizes(Uint8Array.from([0x12, 0, 0x0a, body.length, ...body]))).toEqual([
      { width: 640, height: 427 },
    ]);
  });

  it("throws a RangeError when a unit is longer than the item", () => {
    expect(() => readAv1FrameSizes(Uint8Array.of(0x0a, 9, 1))).toThrow(RangeError);
    expect(() => readAv1FrameSizes(Uint8Array.of(0x0a, 0xff))).toThrow(RangeError);
  });
});

describe("an AVIF item of several frames", () => {
  const item = readFrameItem(readSample("rocket.avif"));
  const repeatItem = (times: number) =>
    makeGridFile(
      { ...item, content: Buffer.concat(Array.from({ length: times }, () => item.content)) },
      { columns: 1, rows: 1 },
    );

  it("is accepted with four frames, the most that layers need, and not decoded with more", async () => {
    expect(readHeader(repeatItem(4)).kind).toBe("avif");
    expect(await catchRefusalWithoutCodec(repeatItem(5))).toEqual(createBrokenError("avif"));
    expect(await catchRefusalWithoutCodec(repeatItem(500))).toEqual(createBrokenError("avif"));
  });

  it.each([
    ["a redundant frame header", 7],
    ["a tile list", 8],
  ])("is not decoded with %s", async (_case, type) => {
    const content = Buffer.concat([item.content, Uint8Array.of((type << 3) | 2, 0)]);
    expect(await catchRefusalWithoutCodec(makeGridFile({ ...item, content }, { columns: 1, rows: 1 }))).toEqual(
      createBrokenError("avif"),
    );
  });
});
