import { generatePicture, toRgb, type Pixels } from "../tests/generated-pictures.ts";
import {
  bucketVector,
  fromHex,
  encodePng,
  readPhoto,
  readVectorFile,
  sha256,
  toHex,
  vectors,
} from "../tests/vectors.ts";
import { decodePicture, type CodecName } from "./decoders/decode.ts";
import type { EngineModules } from "./engine-core.ts";
import {
  copyMemory,
  enrolmentWindow,
  feedPicture,
  instantiateEngine,
  readMeasures,
  readSketch,
  writeSketch,
  type Candidate,
  type EngineWasm,
} from "./engine-wasm.ts";
import { evaluateGate } from "./gate.ts";
import { loadCodecInNode, loadModulesInNode } from "./load-engine.ts";
import { toPictureRows } from "./picture-rows.ts";
import { decodeCandidates } from "./candidates.ts";
import { refineCandidates } from "./search.ts";
import { testChangedCopies } from "./self-test/self-test.ts";

const reasonWords: Readonly<Record<string, string>> = {
  too_small: "short side below 600",
  too_large: "over 52 megapixels",
};
const toReferenceWords = (reasons: readonly string[]) => reasons.map((reason) => reasonWords[reason] ?? reason);

describe.each(["simd", "scalar"] as const)("RIE-1 vectors, %s", (variant) => {
  let modules: EngineModules;
  let wasm: EngineWasm;

  beforeAll(async () => {
    modules = await loadModulesInNode(variant);
    wasm = instantiateEngine(modules.engine);
  });
  const loadCodec = (name: CodecName) =>
    name === "jpeg" || name === "png" ? Promise.resolve(modules[name]) : loadCodecInNode(name);
  afterEach(() => {
    wasm.wipe();
  });

  const readPixels = async (name: string): Promise<Pixels> =>
    generatePicture(name) ?? (await decodePicture(readPhoto(name), loadCodec));
  const loadPixels = (pixels: Pixels) => {
    expect(feedPicture(wasm, toPictureRows(pixels))).toBe(true);
  };
  const hashMemory = (address: number, bytes: number) => sha256(copyMemory(wasm, address, bytes));

  describe("decoding rules", () => {
    const lumaOf = (pixels: readonly (readonly number[])[]) => {
      // The smallest side is 64 pixels; the tested pixels come first.
      const rgba = new Uint8Array(64 * 64 * 4);
      pixels.forEach((pixel, index) => {
        rgba.set(pixel.length === 4 ? pixel : [...pixel, 255], index * 4);
      });
      expect(wasm.beginPicture(64, 64, 1)).toBe(1);
      new Uint8Array(wasm.memory.buffer).set(rgba, wasm.stripAddress());
      expect(wasm.consumeRows(64)).toBe(0);
      return [...copyMemory(wasm, wasm.lumaAddress(), pixels.length)];
    };

    it("give the same luma", () => {
      expect(lumaOf(vectors.pixels.luma.map((row) => row.slice(0, 3)))).toEqual(
        vectors.pixels.luma.map((row) => row[3]),
      );
    });

    it("put alpha on white", () => {
      const opaque = vectors.pixels.alpha.map(([, , , , ...onWhite]) => onWhite);
      expect(lumaOf(vectors.pixels.alpha.map((row) => row.slice(0, 4)))).toEqual(lumaOf(opaque));
    });

    it("round reduced values half up", () => {
      for (const [f = 1, sum = 0, reduced] of vectors.pixels.reduced) {
        const side = f * 384;
        const rgba = new Uint8Array(side * side * 4).fill(255);
        // The first block holds the sum, spread over its pixels.
        for (let i = 0; i < f * f; i++) {
          const value = Math.floor(sum / (f * f)) + (i < sum % (f * f) ? 1 : 0);
          rgba.fill(value, ((i % f) + Math.floor(i / f) * side) * 4, ((i % f) + Math.floor(i / f) * side) * 4 + 3);
        }
        loadPixels({ width: side, height: side, orientation: 1, rgba });
        expect(wasm.reductionFactor()).toBe(f);
        expect(computeReduced(wasm)[0]).toBe(reduced);
      }
    });

    it.each(vectors.pixels.exif)("turn a picture of EXIF orientation $orientation", ({ orientation, shown }) => {
      // Each pixel of the 3 × 2 picture becomes a block of 64 × 64.
      const stored = vectors.pixels.exif_stored;
      const rgba = new Uint8Array(192 * 128 * 4).fill(255);
      for (let y = 0; y < 128; y++) {
        for (let x = 0; x < 192; x++)
          rgba.fill(stored[y >> 6]?.[Math.floor(x / 64)] ?? 0, (y * 192 + x) * 4, (y * 192 + x) * 4 + 3);
      }
      loadPixels({ width: 192, height: 128, orientation, rgba });
      const columns = wasm.satColumns.value;
      const reduced = computeReduced(wasm);
      expect(columns).toBe((shown[0]?.length ?? 0) * 64);
      const expected = reduced.map(
        (_, index) => (shown[Math.floor(index / columns) >> 6]?.[Math.floor((index % columns) / 64)] ?? 0) * 128,
      );
      expect(reduced.findIndex((value, index) => value !== expected[index])).toBe(-1);
    });
  });

  describe("tables", () => {
    it("have the published hashes", () => {
      const dctAddress = 1024; // assembly/memory.ts: DCT and what follows it
      const coarseDctAddress = dctAddress + 2 * 80 * 128 * 8;
      const powersAddress = coarseDctAddress + 2 * 24 * 48 * 8;
      expect(hashMemory(dctAddress, 80 * 128 * 8)).toBe(vectors.cosines.table_sha256);
      expect(hashMemory(coarseDctAddress, 24 * 48 * 8)).toBe(vectors.cosines.coarse_table_sha256);
      expect(hashMemory(powersAddress, 2047 * 2)).toBe(vectors.field.exp_table_u16le_sha256);
      const coarseBucketsAddress = powersAddress + 4096 * 2 + 2048 * 2;
      expect([...new Uint16Array(wasm.memory.buffer, coarseBucketsAddress, 206)]).toEqual(
        vectors.buckets.coarse_buckets,
      );
      const coefficientIndices = new Uint16Array(wasm.memory.buffer, coarseBucketsAddress + 208 * 2, 4094);
      expect([...coefficientIndices].flatMap((index) => [Math.floor(index / 80), index % 80])).toEqual(bucketVector);
    });
  });

  describe("code", () => {
    const write = (address: number, bytes: Uint8Array) => {
      new Uint8Array(wasm.memory.buffer).set(bytes, address);
    };

    it("gives the stored syndrome", () => {
      write(wasm.word.value, fromHex(vectors.bch.word));
      wasm.computeWordSyndrome();
      expect(toHex(copyMemory(wasm, wasm.difference.value, 86))).toBe(vectors.bch.syndrome);
    });

    it.each(vectors.bch.patterns)(
      "decodes up to 68 errors and no more: $name",
      ({ positions, difference, decodes }) => {
        write(wasm.difference.value, fromHex(difference));
        expect(wasm.decode()).toBe(decodes ? positions.length : -1);
        if (decodes) {
          const errors = copyMemory(wasm, wasm.errors.value, 256);
          expect(
            Array.from({ length: 2047 }, (_, i) => i).filter((i) => ((errors[i >> 3] ?? 0) >> (i & 7)) & 1),
          ).toEqual(positions);
        }
      },
    );

    it.each(vectors.bch.random_differences_that_must_not_decode)("refuses random difference %#", (difference) => {
      write(wasm.difference.value, fromHex(difference));
      expect(wasm.decode()).toBe(-1);
    });
  });

  describe("enrolment", () => {
    it.each(vectors.pictures)("makes every step of $name", async (row) => {
      const pixels = await readPixels(row.name);
      expect(sha256(toRgb(pixels))).toBe(row.rgb_sha256);
      expect([pixels.width, pixels.height]).toEqual([row.width, row.height]);

      expect(wasm.beginPicture(pixels.width, pixels.height, pixels.orientation)).toBe(1);
      for (let y = 0; y < pixels.height;) {
        const count = Math.min(wasm.stripRows(), pixels.height - y);
        writeMemory(
          wasm,
          wasm.stripAddress(),
          pixels.rgba.subarray(y * pixels.width * 4, (y + count) * pixels.width * 4),
        );
        wasm.consumeRows(count);
        y += count;
      }
      expect(hashMemory(wasm.lumaAddress(), row.width * row.height)).toBe(row.luma_sha256);

      expect(wasm.endPicture()).toBe(1);
      expect(wasm.reductionFactor()).toBe(row.f);
      expect([wasm.satColumns.value, wasm.satRows.value]).toEqual(row.reduced_size);
      expect(sha256(new Uint8Array(computeReduced(wasm).buffer))).toBe(row.reduced_u16le_sha256);
      expect(hashMemory(wasm.satAddress(), (wasm.satColumns.value + 1) * (wasm.satRows.value + 1) * 8)).toBe(
        row.sat_f64le_sha256,
      );

      wasm.analyseWindow(...enrolmentWindow);
      expect(hashMemory(wasm.grid.value, 128 * 128 * 8)).toBe(row.grid_f64le_sha256);
      expect(hashMemory(wasm.coefficientTable.value, 80 * 80 * 8)).toBe(row.coefficients_f64le_sha256);

      wasm.enrol();
      expect(toHex(copyMemory(wasm, wasm.outChoice.value, 256))).toBe(row.choice);
      expect(toHex(copyMemory(wasm, wasm.word.value, 256))).toBe(row.secret_bits);
      expect(toHex(copyMemory(wasm, wasm.outSyndrome.value, 86))).toBe(row.syndrome);
      expect(toHex(copyMemory(wasm, wasm.outImageSecret.value, 32))).toBe(row.image_secret);

      writeSketch(wasm, 0, readSketch(wasm));
      expect(wasm.score(0, 0)).toBeCloseTo(row.beacon_of_itself, 8);
      expectGate(row, row.gate);
    });

    it.each(vectors.gate_generated)("judges $name", (row) => {
      const pixels = generatePicture(row.name);
      if (pixels === null) throw new Error("unknown picture");
      expect(sha256(toRgb(pixels))).toBe(row.rgb_sha256);
      loadPixels(pixels);
      wasm.analyseWindow(...enrolmentWindow);
      expectGate({ width: 1600, height: 1200 }, row);
    });

    it.each(vectors.gate_enlarged)("judges $name, enlarged", async (row) => {
      const pixels = enlarge(await readPixels(row.name), row.enlarged);
      expect(sha256(toRgb(pixels))).toBe(row.rgb_sha256);
      loadPixels(pixels);
      wasm.analyseWindow(...enrolmentWindow);
      expectGate(pixels, row);
    });

    it.each(vectors.gate_enlarged)("tests $name, enlarged, as the reference does", async (row) => {
      const pixels = enlarge(await readPixels(row.name), row.enlarged);
      loadPixels(pixels);
      wasm.analyseWindow(...enrolmentWindow);
      wasm.enrol();
      const secret = copyMemory(wasm, wasm.outImageSecret.value, 32);
      const { failedCopies, results } = await testChangedCopies(wasm, pixels, readSketch(wasm), secret, () =>
        Promise.resolve(),
      );
      expect(failedCopies.length === 0).toBe(row.self_test_ok);
      // The counts depend on resizer and codec: within 5 of the reference's.
      row.self_test.forEach(({ errors }, index) => {
        expect(Math.abs((errors ?? NaN) - (results[index]?.errors ?? NaN))).toBeLessThanOrEqual(5);
      });
    });

    const expectGate = (
      size: { width: number; height: number },
      row: (typeof vectors.gate_generated)[number] | (typeof vectors.pictures)[number]["gate"],
    ) => {
      wasm.measureGate();
      const measures = readMeasures(wasm);
      for (const [name, value] of Object.entries(measures))
        expect([name, value]).toEqual([name, expect.closeTo(row.measures[name] ?? NaN, 5)]);
      const report = evaluateGate(size.width, size.height, measures);
      expect(report.verdict).toBe(row.verdict);
      expect(toReferenceWords(report.reasons)).toEqual(row.reasons);
      expect(toReferenceWords(report.refusalReasons)).toEqual(row.red_reasons);
      expect(evaluateGate(4000, 3000, measures).verdict).toBe(row.without_size_rule);
    };
  });

  describe("blind search", () => {
    /**
     * Searches and compares every candidate with the reference; the sums are in order, so all
     * numbers are equal.
     */
    const runSearch = async (enrolled: string, pixels: Pixels) => {
      const picture = vectors.pictures.find(({ name }) => name === enrolled);
      if (picture === undefined) throw new Error("unknown picture");
      loadPixels(pixels);
      writeSketch(wasm, 0, { choice: fromHex(picture.choice), syndrome: fromHex(picture.syndrome) });
      wasm.runCoarsePass(1, 0, wasm.coarseWindowCount.value);
      const candidates = await refineCandidates(wasm, 0, () => Promise.resolve());
      const result = decodeCandidates(wasm, 0, candidates);
      writeMemory(wasm, wasm.word.value, fromHex(picture.secret_bits));
      const distances = candidates.flatMap(({ window, transposed }) => {
        wasm.analyseWindow(...window);
        return [0, 1, 2, 3].map((pattern) => wasm.countDifferingBits(0, transposed ? 1 : 0, pattern & 1, pattern >> 1));
      });
      return { candidates, result, nearest: Math.min(...distances), imageSecret: picture.image_secret };
    };
    const outcomes: Readonly<Record<string, string>> = {
      recovered: "recovered",
      not_this_picture: "not this picture",
      too_many_errors: "too many errors",
    };

    const compare = (
      row: { errors: number | null; score: number; reason: string; nearest: number },
      actual: Awaited<ReturnType<typeof runSearch>>,
    ) => {
      expect(outcomes[actual.result.outcome]).toBe(row.reason);
      expect(actual.result.score).toBeCloseTo(row.score, 5);
      expect(actual.nearest).toBe(row.nearest);
      if (actual.result.outcome === "recovered") {
        expect(actual.result.errors).toBe(row.errors);
        expect(toHex(actual.result.imageSecretBytes)).toBe(actual.imageSecret);
      }
    };
    const describeCandidate = ({ transposed, startWindowIndex, coarseScore, score, window }: Candidate) => ({
      transposed: transposed ? 1 : 0,
      start: [216, 36, 6, 1].map((divisor) => Math.floor(startWindowIndex / divisor) % 6),
      coarse_score: expect.closeTo(coarseScore, 5) as number,
      score: expect.closeTo(score, 5) as number,
      window: window.map((side) => expect.closeTo(side, 5) as number),
    });

    it.each(vectors.orientations)("finds $photo, $orientation", async (row) => {
      const actual = await runSearch(row.photo, withOrientation(await readPixels(row.photo), row.orientation));
      compare(row, actual);
      expect(row.candidates).toEqual(actual.candidates.map(describeCandidate));
    });

    it.each(vectors.stored)("ends as recorded for $file", async (row) => {
      const pixels = await decodePicture(readVectorFile(row.file), loadCodec);
      expect(sha256(toRgb(pixels))).toBe(row.rgb_sha256);
      const actual = await runSearch(row.enrolled, pixels);
      compare(row, actual);
      expect(row.candidates).toEqual(actual.candidates.map(describeCandidate));
    });

    it.each(vectors.strangers)("does not recognise $shown as $enrolled", async (row) => {
      compare(row, await runSearch(row.enrolled, await readPixels(row.shown)));
    });
  });

  it("give the same pixels through a file", async () => {
    const pixels = generatePicture("synthetic-901x1333");
    if (pixels === null) throw new Error("unknown picture");
    const decoded = await decodePicture(encodePng(pixels), loadCodec);
    expect(sha256(decoded.rgba)).toBe(sha256(pixels.rgba));
  });
});

function writeMemory(wasm: EngineWasm, address: number, bytes: Uint8Array): void {
  new Uint8Array(wasm.memory.buffer).set(bytes, address);
}

/** The reduced picture, from its area table: differences of exact sums are exact. */
function computeReduced(wasm: EngineWasm): Uint16Array {
  const columns = wasm.satColumns.value;
  const rows = wasm.satRows.value;
  const sat = new Float64Array(wasm.memory.buffer, wasm.satAddress(), (columns + 1) * (rows + 1));
  const valueAt = (row: number, column: number) => sat[row * (columns + 1) + column] ?? NaN;
  return Uint16Array.from({ length: rows * columns }, (_, i) => {
    const row = Math.floor(i / columns);
    const column = i % columns;
    return (
      128 *
      (valueAt(row + 1, column + 1) - valueAt(row, column + 1) - (valueAt(row + 1, column) - valueAt(row, column)))
    );
  });
}

function enlarge({ width, height, rgba }: Pixels, factor: number): Pixels {
  const out = new Uint32Array(width * height * factor * factor);
  const pixels = new Uint32Array(rgba.slice().buffer);
  for (let y = 0, offset = 0; y < height * factor; y++) {
    for (let x = 0; x < width * factor; x++)
      out[offset++] = pixels[Math.floor(y / factor) * width + Math.floor(x / factor)] ?? 0;
  }
  return { width: width * factor, height: height * factor, orientation: 1, rgba: new Uint8Array(out.buffer) };
}

/** EXIF orientation that turns the stored pixels as each orientation of the vectors does. */
const exifOrientations: Readonly<Record<string, number>> = {
  "as it is": 1,
  "rotated 90": 8,
  "rotated 180": 3,
  "rotated 270": 6,
  mirrored: 2,
  flipped: 4,
  transposed: 5,
  transversed: 7,
};

function withOrientation(pixels: Pixels, orientation: string): Pixels {
  const exif = exifOrientations[orientation];
  if (exif === undefined) throw new Error("unknown orientation");
  return { ...pixels, orientation: exif };
}
