import { generatePicture } from "../../tests/generated-pictures.ts";
import { readPhoto } from "../../tests/vectors.ts";
import { decodePicture, type CodecName } from "../decoders/decode.ts";
import {
  enrolmentWindow,
  feedPicture,
  instantiateEngine,
  readImageSecret,
  readSketch,
  type EngineWasm,
} from "../engine-wasm.ts";
import type { EngineModules } from "../engine-core.ts";
import { loadCodecInNode, loadModulesInNode } from "../load-engine.ts";
import { toPictureRows, type Raster } from "../picture-rows.ts";
import { createChangedCopy, SelfTestCopy } from "./copies.ts";
import { simulateJpeg50 } from "./jpeg-simulation.ts";
import { ResampleFilter, resample } from "./resample.ts";
import { testChangedCopies } from "./self-test.ts";

let modules: EngineModules;
let wasm: EngineWasm;
beforeAll(async () => {
  modules = await loadModulesInNode();
});
beforeEach(() => {
  wasm = instantiateEngine(modules.engine);
});

const loadCodec = (name: CodecName) =>
  name === "jpeg" || name === "png" ? Promise.resolve(modules[name]) : loadCodecInNode(name);
const readRaster = (copy: Raster | ReturnType<typeof createChangedCopy>["rows"]): Raster => {
  const rows = "rgba" in copy ? toPictureRows(copy) : copy;
  const rgba = new Uint8Array(rows.width * rows.height * 4);
  rows.readRows(0, rows.height, rgba);
  return { width: rows.width, height: rows.height, orientation: rows.orientation, rgba };
};
const createNoise = (): Raster =>
  generatePicture("block noise") ?? { width: 0, height: 0, orientation: 1, rgba: new Uint8Array(0) };
const makePlain = (width: number, height: number, colour: readonly number[]): Raster => {
  const rgba = new Uint8Array(width * height * 4);
  for (let offset = 0; offset < rgba.length; offset += 4) rgba.set(colour, offset);
  return { width, height, orientation: 1, rgba };
};

describe("createChangedCopy", () => {
  it("scales to a long side of 1280, to a quarter, or to a short side of 200 or 350, but never up", () => {
    const sizeOf = (copy: SelfTestCopy, picture: Raster) => {
      const { rows, clear } = createChangedCopy(copy, picture);
      clear();
      return [rows.width, rows.height];
    };
    expect(sizeOf("messenger", makePlain(1600, 1200, [9, 9, 9, 255]))).toEqual([1280, 960]);
    expect(sizeOf("messenger", makePlain(700, 801, [9, 9, 9, 255]))).toEqual([700, 801]);
    // 400.5 and 301.5: halves to even
    expect(sizeOf("quarter", makePlain(1602, 1206, [9, 9, 9, 255]))).toEqual([400, 302]);
    expect(sizeOf("small", makePlain(1600, 1200, [9, 9, 9, 255]))).toEqual([267, 200]);
    expect(sizeOf("small", makePlain(180, 800, [9, 9, 9, 255]))).toEqual([180, 800]);
    expect(sizeOf("medium", makePlain(1600, 1200, [9, 9, 9, 255]))).toEqual([467, 350]);
    expect(sizeOf("cropped", makePlain(1600, 1200, [9, 9, 9, 255]))).toEqual([1504, 1128]);
  });

  it("crops 3 % and mirrors", () => {
    const picture = createNoise();
    const copy = readRaster(createChangedCopy("cropped", picture).rows);
    const pixelAt = (raster: Raster, x: number, y: number) => [
      ...raster.rgba.subarray((y * raster.width + x) * 4, (y * raster.width + x) * 4 + 4),
    ];
    for (const [x, y] of [
      [0, 0],
      [17, 400],
      [1503, 1127],
    ] as const)
      expect(pixelAt(copy, x, y)).toEqual(pixelAt(picture, 1551 - x, y + 36));
  });

  it("maps colours with the gamma table and keeps alpha", () => {
    const copy = readRaster(createChangedCopy("gamma", makePlain(64, 64, [0, 128, 255, 7])).rows);
    expect([...copy.rgba.subarray(0, 4)]).toEqual([0, 108, 255, 7]);
  });

  it("brightens colours by a fifth, up to white, and keeps alpha", () => {
    const copy = readRaster(createChangedCopy("bright", makePlain(64, 64, [0, 128, 250, 7])).rows);
    expect([...copy.rgba.subarray(0, 4)]).toEqual([0, 154, 255, 7]);
  });

  it("blends alpha on black, so that the copy is opaque", () => {
    const copy = readRaster(createChangedCopy("on_black", makePlain(64, 64, [10, 128, 255, 128])).rows);
    expect([...copy.rgba.subarray(0, 4)]).toEqual([5, 64, 128, 255]);
  });

  it("keeps the orientation and clears its pixels", () => {
    for (const copy of Object.values(SelfTestCopy))
      expect(createChangedCopy(copy, { ...makePlain(640, 640, [1, 2, 3, 255]), orientation: 6 }).rows.orientation).toBe(
        6,
      );
    const { rows, clear } = createChangedCopy("quarter", createNoise());
    clear();
    expect(readRaster(rows).rgba.every((value) => value === 0)).toBe(true);
  });
});

describe("resample", () => {
  it("keeps uniform colours, and blends alpha on white", () => {
    for (const filter of Object.values(ResampleFilter)) {
      expect([...new Set(resample(makePlain(100, 90, [10, 20, 30, 255]), 33, 47, filter).rgba)]).toEqual([
        10, 20, 30, 255,
      ]);
      expect([...new Set(resample(makePlain(100, 90, [10, 20, 30, 128]), 33, 47, filter).rgba)]).toEqual([
        132, 137, 142, 255,
      ]);
    }
  });
});

describe("simulateJpeg50", () => {
  it("keeps a uniform grey and the size, even with odd sides", () => {
    const { width, height, rgba } = simulateJpeg50(makePlain(101, 67, [128, 128, 128, 255]));
    expect([width, height]).toEqual([101, 67]);
    expect([...new Set(rgba)]).toEqual([128, 255]);
  });

  it("changes texture only slightly", () => {
    const original = createNoise();
    const { rgba } = simulateJpeg50(original);
    let sum = 0;
    rgba.forEach((value, index) => {
      sum += Math.abs(value - (original.rgba[index] ?? 0));
    });
    const mean = sum / ((rgba.length / 4) * 3);
    expect(mean).toBeGreaterThan(0);
    expect(mean).toBeLessThan(8);
  });
});

describe("testChangedCopies", () => {
  const enrolPhoto = async (name: string) => {
    const picture = await decodePicture(readPhoto(name), loadCodec);
    feedPicture(wasm, toPictureRows(picture));
    wasm.analyseWindow(...enrolmentWindow);
    wasm.enrol();
    return { picture, sketch: readSketch(wasm), secret: readImageSecret(wasm) };
  };

  it("passes a good photograph", async () => {
    const { picture, sketch, secret } = await enrolPhoto("friends-2056x3088.jpg");
    const { failedCopies, results } = await testChangedCopies(wasm, picture, sketch, secret, () => Promise.resolve());
    expect(failedCopies).toEqual([]);
    expect(results.map(({ copy }) => copy)).toEqual(["messenger", "quarter", "gamma", "cropped", "bright", "small"]);
    for (const { errors } of results) expect(errors).toBeLessThanOrEqual(40);
  });

  it("fails a picture whose copies give another secret or none", async () => {
    const { picture, sketch, secret } = await enrolPhoto("chelsea.png");
    const otherSecret = secret.map((value) => value ^ 1);
    const allCopies = Object.values(SelfTestCopy).filter((copy) => copy !== SelfTestCopy.onBlack); // opaque picture
    expect((await testChangedCopies(wasm, picture, sketch, otherSecret, () => Promise.resolve())).failedCopies).toEqual(
      allCopies,
    );
    const otherSketch = {
      ...sketch,
      syndrome: sketch.syndrome.map((value, index) => (index === 85 ? value : value ^ 0x5a)),
    };
    const { failedCopies, results } = await testChangedCopies(wasm, picture, otherSketch, secret, () =>
      Promise.resolve(),
    );
    expect(failedCopies).toEqual(allCopies);
    expect(results.every(({ errors }) => errors === null)).toBe(true);
  });
});
