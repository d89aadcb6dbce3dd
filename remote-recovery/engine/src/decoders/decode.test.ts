import { generatePicture, type Pixels } from "../../tests/generated-pictures.ts";
import { encodeBox, makeGridFile } from "../../tests/heif-files.ts";
import { makeExif, makePng, encodePng, readSample, readPhoto, sha256 } from "../../tests/vectors.ts";
import { PortalError } from "@relicario/shared/errors";
import type { EngineModules } from "../engine-core.ts";
import { loadCodecInNode, loadModulesInNode } from "../load-engine.ts";
import { decodePicture, estimateMemory } from "./decode.ts";
import { readHeader } from "./header.ts";

let modules: EngineModules;
beforeAll(async () => {
  modules = await loadModulesInNode();
});

const decode = (bytes: Uint8Array) =>
  decodePicture(bytes, (name) =>
    name === "jpeg" || name === "png" ? Promise.resolve(modules[name]) : loadCodecInNode(name),
  );

/** Code and details of the error that decoding throws. */
const catchDecodeError = (bytes: Uint8Array) => catchPortalError(decode(bytes).then(() => null));

/** Code and details of a file's damage, even if the rest of the file decodes. */
const readDamage = (bytes: Uint8Array) =>
  catchPortalError(
    decode(bytes).then(({ damage, release }) => {
      release();
      return Promise.reject(damage ?? new Error("expected the file to be damaged"));
    }),
  );

async function catchPortalError(call: Promise<unknown>): Promise<{ code: string; [detail: string]: unknown }> {
  const error: unknown = await call.catch((thrown: unknown) => thrown);
  if (!(error instanceof PortalError)) throw new Error(`expected a PortalError, got ${String(error)}`);
  return { code: error.code, ...error.details };
}

const readJpeg = () => new Uint8Array(readPhoto("rocket.jpg"));
const readPng = () => new Uint8Array(readPhoto("chelsea.png"));

/**
 * A JPEG header, enough zeros as coded data to pass the size check (`minBits` of jpeg-header.ts),
 * and an end marker.
 */
function createJpegHeader({
  width,
  height,
  marker = 0xc0,
  precision = 8,
  sampling = [0x22, 0x11, 0x11],
  componentsPerScan = sampling.length,
}: {
  width: number;
  height: number;
  marker?: number;
  precision?: number;
  sampling?: readonly number[];
  componentsPerScan?: number;
}): Uint8Array {
  const components = sampling.flatMap((factors, index) => [index + 1, factors, 0]);
  const length = 8 + components.length;
  const head = Uint8Array.of(
    0xff,
    0xd8,
    0xff,
    marker,
    length >> 8,
    length & 255,
    precision,
    height >> 8,
    height & 255,
    width >> 8,
    width & 255,
    sampling.length,
    ...components,
    0xff,
    0xda,
    0,
    3,
    componentsPerScan,
  );
  return Buffer.concat([head, new Uint8Array((width * height * 3 * 2) / 64 / 8), Uint8Array.of(0xff, 0xd9)]);
}

/** Start of a TIFF file: make of the camera, and empty tags. */
function createTiff({
  make,
  extraTags,
  littleEndian = true,
}: {
  make: string;
  extraTags: readonly number[];
  littleEndian?: boolean;
}): string {
  const view = new DataView(new ArrayBuffer(200));
  view.setUint16(0, littleEndian ? 0x4949 : 0x4d4d);
  view.setUint16(2, 42, littleEndian);
  view.setUint32(4, 8, littleEndian);
  view.setUint16(8, extraTags.length + 1, littleEndian);
  [0x010f, ...extraTags].forEach((tag, index) => {
    view.setUint16(10 + 12 * index, tag, littleEndian);
    view.setUint16(12 + 12 * index, 2, littleEndian);
    view.setUint32(14 + 12 * index, tag === 0x010f ? make.length + 1 : 1, littleEndian);
    view.setUint32(18 + 12 * index, tag === 0x010f ? 100 : 0, littleEndian);
  });
  new TextEncoder().encodeInto(make, new Uint8Array(view.buffer, 100));
  return String.fromCharCode(...new Uint8Array(view.buffer));
}

describe("decodePicture", () => {
  it("reads a JPEG and a PNG, and clears their pixels on release", async () => {
    for (const [bytes, width, height] of [
      [readJpeg(), 640, 427],
      [readPng(), 451, 300],
    ] as const) {
      const picture = await decode(bytes);
      expect([picture.width, picture.height, picture.orientation]).toEqual([width, height, 1]);
      expect(picture.rgba.length).toBe(width * height * 4);
      expect(picture.rgba.some((value) => value !== 0)).toBe(true);
      picture.release();
      expect(picture.rgba.every((value) => value === 0)).toBe(true);
    }
  });

  it("leaves the given bytes unchanged", async () => {
    for (const bytes of [readJpeg(), readPng(), readPhoto("rocket.jpg"), readPhoto("chelsea.png")]) {
      const digest = sha256(bytes);
      (await decode(bytes)).release();
      expect(sha256(bytes)).toBe(digest);
    }
  });

  it("keeps the high byte of 16-bit grey", async () => {
    const data = new Uint8Array(64 * 64 * 2);
    [0, 255, 256, 40000, 65535].forEach((value, index) => {
      data.set([value >> 8, value & 255], index * 2);
    });
    const picture = await decode(makePng({ width: 64, height: 64, colourType: 0, depth: 16, data }));
    expect([0, 1, 2, 3, 4].map((i) => picture.rgba[i * 4])).toEqual([0, 0, 1, 156, 255]);
  });

  it("reads palettes with transparency", async () => {
    const data = new Uint8Array(64 * 64);
    data[1] = 1;
    const picture = await decode(
      makePng({
        width: 64,
        height: 64,
        colourType: 3,
        depth: 8,
        data,
        chunks: [
          ["PLTE", Uint8Array.of(10, 20, 30, 40, 50, 60)],
          ["tRNS", Uint8Array.of(255, 128)],
        ],
      }),
    );
    expect([...picture.rgba.subarray(0, 8)]).toEqual([10, 20, 30, 255, 40, 50, 60, 128]);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "reads EXIF orientation %i of PNG and JPEG, in both byte orders",
    async (orientation) => {
      const pixels = generatePicture("black");
      if (pixels === null) throw new Error("unknown picture");
      const small: Pixels = { ...pixels, width: 64, height: 64, rgba: pixels.rgba.subarray(0, 64 * 64 * 4) };
      for (const littleEndian of [true, false]) {
        const exif = makeExif(orientation, littleEndian);
        const rotated = makePng({
          width: 64,
          height: 64,
          colourType: 6,
          depth: 8,
          data: small.rgba,
          chunks: [["eXIf", exif]],
        });
        expect((await decode(rotated)).orientation).toBe(orientation);
        expect(readHeader(insertApp1(readJpeg(), exif)).orientation).toBe(orientation);
      }
    },
  );

  it("ignores damaged EXIF data, and reports orientation 1", () => {
    const exif = makeExif(6);
    for (const damagedExif of [
      exif.subarray(0, 12),
      exif.map((value, index) => (index === 18 ? 99 : value)),
      exif.map((value, index) => (index === 4 ? 255 : value)),
    ]) {
      expect(readHeader(insertApp1(readJpeg(), damagedExif)).orientation).toBe(1);
    }
  });

  it("refuses a file that is not a picture", async () => {
    expect(await catchDecodeError(new Uint8Array(0))).toEqual({ code: "picture_unreadable", reason: "empty" });
    expect(await catchDecodeError(new TextEncoder().encode("this is a text, named .jpg"))).toEqual({
      code: "picture_unreadable",
      reason: "not_a_picture",
    });
    expect(await catchDecodeError(Uint8Array.of(0xff))).toEqual({
      code: "picture_unreadable",
      reason: "not_a_picture",
    });
  });

  it.each([
    ["gif", "GIF89a"],
    ["bmp", `BM${"\0".repeat(40)}`],
    ["tiff", "II*\0........"],
    ["svg", '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ["jpeg_xl", "\0\0\0\fJXL \r\n\x87\n"],
    ["jpeg_xl", "\xff\n\xfa\x1f"],
    ["jpeg_2000", "\0\0\0\fjP  \r\n\x87\n"],
    ["psd", "8BPS\0\x01"],
    ["pdf", "%PDF-1.7"],
    ["video", "\0\0\0\x14ftypqt  \0\0\0\0qt  "],
    ["cr2", "II*\0\x10\0\0\0CR\x02\0"],
    ["cr3", "\0\0\0\x18ftypcrx \0\0\0\x01crx isom"],
    ["crw", "II\x1a\0\0\0HEAPCCDR\x02\0"],
    ["raf", "FUJIFILMCCD-RAW 0201FF393101"],
    ["orf", "IIRO\b\0\0\0"],
    ["orf", "MMOR\0\0\0\b"],
    ["rw2", "IIU\0\x18\0\0\0"],
    ["x3f", "FOVb\0\0\x02\0"],
    ["dng", createTiff({ make: "Google", extraTags: [0xc612] })],
    ["dng", createTiff({ make: "NIKON CORPORATION", extraTags: [0x014a, 0xc612], littleEndian: false })],
    ["nef", createTiff({ make: "NIKON CORPORATION", extraTags: [0x014a], littleEndian: false })],
    ["nef", createTiff({ make: "NIKON", extraTags: [0x014a] })],
    ["arw", createTiff({ make: "SONY", extraTags: [0x014a] })],
    ["tiff", createTiff({ make: "NIKON CORPORATION", extraTags: [] })],
    ["tiff", createTiff({ make: "Epson", extraTags: [0x014a] })],
    ["tiff", "II*\0\xff\xff\xff\x7f"],
  ])("names an unsupported kind: %s", async (kind, start) => {
    expect(await catchDecodeError(Uint8Array.from(start, (letter) => letter.charCodeAt(0)))).toEqual({
      code: "picture_unreadable",
      reason: "unsupported",
      kind,
    });
  });

  it.each([
    ["cmyk_jpeg", { sampling: [0x11, 0x11, 0x11, 0x11] }],
    ["twelve_bit_jpeg", { precision: 12 }],
    ["lossless_jpeg", { marker: 0xc3 }],
    ["arithmetic_jpeg", { marker: 0xc9 }],
  ])("names an unsupported JPEG: %s", async (kind, overrides) => {
    expect(await catchDecodeError(createJpegHeader({ width: 800, height: 600, ...overrides }))).toEqual({
      code: "picture_unreadable",
      reason: "unsupported",
      kind,
    });
  });

  it.each([
    ["rocket.jpg", "jpeg"],
    ["rocket-progressive.jpg", "jpeg"],
    ["rocket-444.jpg", "jpeg"],
    ["rocket-restarts.jpg", "jpeg"],
    ["rocket-grey.jpg", "jpeg"],
    ["rocket-16bit.png", "png"],
    ["rocket-palette.png", "png"],
    ["rocket.webp", "webp"],
    ["rocket-turned.webp", "webp"],
    ["rocket-lossless.webp", "webp"],
    ["rocket.avif", "avif"],
    ["rocket.heic", "heic"],
  ])("calls a file damaged wherever it is cut: %s", async (name, kind) => {
    const bytes = readSample(name);
    const lengths = [
      ...Array.from({ length: 40 }, (_, index) => Math.floor((bytes.length * (index + 1)) / 41)),
      ...[3, 2, 1].map((missing) => bytes.length - missing),
    ];
    for (const length of lengths.filter((candidate) => candidate >= 40)) {
      expect([length, await readDamage(bytes.subarray(0, length))]).toEqual([
        length,
        { code: "picture_unreadable", reason: "broken", kind },
      ]);
    }
  });

  it("detects a cut JPEG with or without an end marker, even if the decoder first warns of something else", async () => {
    const end = Uint8Array.of(0xff, 0xd9);
    const broken = { code: "picture_unreadable", reason: "broken", kind: "jpeg" };
    for (const name of ["rocket.jpg", "rocket-progressive.jpg", "rocket-444.jpg", "rocket-restarts.jpg"]) {
      const bytes = readSample(name);
      const cut = bytes.subarray(0, Math.floor(bytes.length * 0.6));
      expect(await readDamage(Buffer.concat([cut, end]))).toEqual(broken);
    }
    const bytes = readSample("rocket-restarts.jpg");
    const restart = bytes.findIndex((byte, index) => byte === 0xff && bytes[index + 1] === 0xd0);
    // bytes before a restart marker make the decoder first warn of "extraneous bytes"
    const noisy = Buffer.concat([bytes.subarray(0, restart), new Uint8Array(40), bytes.subarray(restart)]);
    (await decode(noisy)).release();
    expect(await readDamage(noisy.subarray(0, Math.floor(noisy.length * 0.6)))).toEqual(broken);
  });

  it("reads a JPEG and a WebP with bytes after their end, as some cameras write", async () => {
    for (const name of ["rocket.jpg", "rocket-progressive.jpg", "rocket.webp"]) {
      (await decode(Buffer.concat([readSample(name), new Uint8Array(500).fill(7)]))).release();
    }
  });

  it("refuses a small file that claims a large size, and one with very many scans, before decoding", async () => {
    const progressive = readSample("rocket-progressive.jpg");
    const frame = progressive.findIndex((byte, index) => byte === 0xff && progressive[index + 1] === 0xc2);
    const large = new Uint8Array(progressive);
    new DataView(large.buffer).setUint32(frame + 5, (6500 << 16) | 8000); // height and width
    const broken = { code: "picture_unreadable", reason: "broken", kind: "jpeg" };
    expect(await catchDecodeError(large)).toEqual(broken);

    const end = progressive.length - 2;
    const scan = [0xff, 0xda, 0, 8, 1, 1, 0, 1, 1, 0, 0x3f]; // one component, one coefficient, one byte of data
    const withScans = (count: number) =>
      Buffer.concat([
        progressive.subarray(0, end),
        ...Array.from({ length: count }, () => Uint8Array.from(scan)),
        progressive.subarray(end),
      ]);
    expect(() => readHeader(withScans(20))).not.toThrow();
    expect(await catchDecodeError(withScans(65))).toEqual(broken);
  });

  it("refuses a damaged PNG and reads the next file", async () => {
    const damaged = readPng().map((value, index) => (index > 60_000 && index < 60_200 ? value ^ 0x55 : value));
    expect(await catchDecodeError(damaged)).toEqual({ code: "picture_unreadable", reason: "broken", kind: "png" });
    expect((await decode(readPng())).width).toBe(451);
  });

  it("refuses more than 52 million pixels before decoding", async () => {
    expect(await catchDecodeError(createJpegHeader({ width: 8000, height: 6501 }))).toEqual({
      code: "picture_too_large",
      width: 8000,
      height: 6501,
    });
    expect(
      await catchDecodeError(
        makePng({ width: 100_000, height: 100_000, colourType: 0, depth: 8, data: new Uint8Array(100_000) }),
      ),
    ).toEqual({
      code: "picture_too_large",
      width: 100_000,
      height: 100_000,
    });
  });

  it("counts memory for the coefficients that a progressive JPEG keeps", () => {
    const size = { width: 4000, height: 3000 };
    expect(readHeader(createJpegHeader(size)).extraBytesPerPixel).toBe(0);
    expect(readHeader(createJpegHeader({ ...size, marker: 0xc2 })).extraBytesPerPixel).toBe(3);
    expect(
      readHeader(createJpegHeader({ ...size, marker: 0xc2, sampling: [0x11, 0x11, 0x11] })).extraBytesPerPixel,
    ).toBe(6);
    expect(readHeader(createJpegHeader({ ...size, marker: 0xc2, sampling: [0x11] })).extraBytesPerPixel).toBe(2);
    // a separate scan for each colour
    expect(readHeader(createJpegHeader({ ...size, componentsPerScan: 1 })).extraBytesPerPixel).toBe(3);
  });

  it("estimates under 900 MB within the pixel limit, and more only for narrow strips and for progressive 4:4:4 JPEGs above 48 megapixels", () => {
    const file = 20_000_000;
    const header = { kind: "jpeg", width: 8000, height: 6500, orientation: 1, extraBytesPerPixel: 4 } as const;
    expect(estimateMemory(header, file)).toBeLessThan(900_000_000);
    expect(estimateMemory({ ...header, height: 6000, extraBytesPerPixel: 6 }, file)).toBeLessThan(900_000_000);
    expect(estimateMemory({ ...header, extraBytesPerPixel: 6 }, file)).toBeGreaterThan(900_000_000);
    expect(estimateMemory({ ...header, width: 65_000, height: 800 }, file)).toBeGreaterThan(900_000_000);
  });
});

describe("a picture file", () => {
  /** Mean difference of the colours of two pictures, in grey levels. */
  const meanDifference = (a: Uint8Array, b: Uint8Array) => {
    expect(a.length).toBe(b.length);
    let sum = 0;
    a.forEach((value, index) => {
      sum += Math.abs(value - (b[index] ?? 0));
    });
    return sum / ((a.length / 4) * 3);
  };

  it.each([
    "rocket.jpg",
    "rocket-progressive.jpg",
    "rocket-palette.png",
    "rocket.webp",
    "rocket-turned.webp",
    "rocket.avif",
    "rocket-turned.avif",
    "rocket.heic",
  ])("is read: %s", async (name) => {
    const original = await decode(readSample("rocket-lossless.webp"));
    const picture = await decode(readSample(name));
    expect([picture.width, picture.height, picture.orientation]).toEqual([320, 214, name.includes("turned") ? 6 : 1]);
    expect(meanDifference(picture.rgba, original.rgba)).toBeLessThan(name.includes("palette") ? 8 : 5);
    picture.release();
    expect(picture.rgba.every((value) => value === 0)).toBe(true);
  });

  it.each(["rocket-grey.jpg", "rocket-16bit.png"])("is read as grey: %s", async (name) => {
    const { rgba } = await decode(readSample(name));
    for (let offset = 0; offset < rgba.length; offset += 4)
      if (rgba[offset] !== rgba[offset + 1] || rgba[offset] !== rgba[offset + 2])
        throw new Error("expected only grey pixels");
    expect(rgba.length).toBe(320 * 214 * 4);
  });

  it.each([
    ["rocket-cmyk.jpg", "cmyk_jpeg"],
    ["rocket-animated.webp", "animated_webp"],
    ["rocket.gif", "gif"],
  ])("is refused with the name of its kind: %s", async (name, kind) => {
    expect(await catchDecodeError(readSample(name))).toEqual({
      code: "picture_unreadable",
      reason: "unsupported",
      kind,
    });
  });

  it.each([
    [[0, null], 1],
    [[0, 0], 4],
    [[0, 1], 2],
    [[1, null], 8],
    [[1, 0], 5],
    [[1, 1], 7],
    [[2, null], 3],
    [[2, 0], 2],
    [[2, 1], 4],
    [[3, null], 6],
    [[3, 0], 7],
    [[3, 1], 5],
  ] as const)("with the AVIF rotation and mirror %j reports EXIF orientation %i", ([turn, mirror], orientation) => {
    const properties = [
      ...(turn === 0 ? [] : [encodeBox("irot", Buffer.from([turn]))]),
      ...(mirror === null ? [] : [encodeBox("imir", Buffer.from([mirror]))]),
    ];
    const file = makeGridFile(readSample("rocket.avif"), { columns: 2, rows: 1, extraProperties: properties });
    expect(readHeader(file)).toMatchObject({ kind: "avif", width: 640, height: 214, orientation });
  });
});

function insertApp1(file: Uint8Array, exif: Uint8Array): Uint8Array {
  const length = 2 + 6 + exif.length;
  return Buffer.concat([
    file.subarray(0, 2),
    Uint8Array.of(0xff, 0xe1, length >> 8, length & 255, 0x45, 0x78, 0x69, 0x66, 0, 0),
    exif,
    file.subarray(2),
  ]);
}

it("decodePicture reads a PNG that the tests encode", async () => {
  const pixels = generatePicture("disc");
  if (pixels === null) throw new Error("unknown picture");
  expect(sha256((await decode(encodePng(pixels))).rgba)).toBe(sha256(pixels.rgba));
});
