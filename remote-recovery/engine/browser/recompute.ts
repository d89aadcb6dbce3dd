/** Recomputes every vector and lists the differences, in Node and in a browser's worker. */
import { decodePicture, type CodecName } from "../src/decoders/decode.ts";
import type { RecoverResult } from "../src/engine.ts";
import {
  copyMemory,
  enrolmentWindow,
  feedPicture,
  instantiateEngine,
  readImageSecret,
  readMeasures,
  readSketch,
  writeSketch,
  type Candidate,
  type EngineWasm,
} from "../src/engine-wasm.ts";
import { evaluateGate } from "../src/gate.ts";
import { toPictureRows, type Raster } from "../src/picture-rows.ts";
import { decodeCandidates } from "../src/candidates.ts";
import { refineCandidates } from "../src/search.ts";
import { testChangedCopies } from "../src/self-test/self-test.ts";
import { generatePicture, toRgb } from "../tests/generated-pictures.ts";
import type { VectorFile } from "../tests/vectors.ts";

export interface RecomputeRequest {
  readonly modules: Readonly<Record<"engine" | "jpeg" | "png", WebAssembly.Module>>;
  readonly vectors: VectorFile;
  /** [v, u] of all 4094 members. */
  readonly buckets: readonly number[];
  readonly files: ReadonlyMap<string, Uint8Array>;
}

export interface RecomputeResult {
  readonly passedCount: number;
  readonly failures: readonly string[];
}

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
const outcomes: Readonly<Record<RecoverResult["outcome"], string>> = {
  recovered: "recovered",
  not_this_picture: "not this picture",
  too_many_errors: "too many errors",
};
const noPause = () => Promise.resolve();

export async function recomputeVectors(request: RecomputeRequest): Promise<RecomputeResult> {
  const check = new VectorCheck(request);
  check.checkPixels();
  await check.checkTables();
  check.checkCode();
  await check.checkPictures();
  await check.checkGates();
  await check.checkSearches();
  return check.result();
}

class VectorCheck {
  readonly #request: RecomputeRequest;
  readonly #wasm: EngineWasm;
  readonly #failures: string[] = [];
  #passedCount = 0;

  constructor(request: RecomputeRequest) {
    this.#request = request;
    this.#wasm = instantiateEngine(request.modules.engine);
  }

  result(): RecomputeResult {
    return { passedCount: this.#passedCount, failures: this.#failures };
  }

  checkPixels(): void {
    const { luma, alpha, reduced, exif, exif_stored: storedPixels } = this.#request.vectors.pixels;
    this.#expectEqual(
      "luma",
      this.#lumaOf(luma.map((row) => row.slice(0, 3))).join(),
      luma.map((row) => row[3]).join(),
    );
    this.#expectEqual(
      "alpha",
      this.#lumaOf(alpha.map((row) => row.slice(0, 4))).join(),
      this.#lumaOf(alpha.map((row) => row.slice(4))).join(),
    );
    for (const [f = 1, sum = 0, expected = 0] of reduced) {
      const side = f * 384;
      const rgba = new Uint8Array(side * side * 4).fill(255);
      // The first block encodes the sum, spread over its pixels.
      for (let i = 0; i < f * f; i++) {
        const offset = ((i % f) + Math.floor(i / f) * side) * 4;
        rgba.fill(Math.floor(sum / (f * f)) + (i < sum % (f * f) ? 1 : 0), offset, offset + 3);
      }
      this.#loadPicture({ width: side, height: side, orientation: 1, rgba });
      this.#expectEqual(`reduced ${String(f)} ${String(sum)}`, this.#reducedAt(0, 0), expected);
    }
    for (const { orientation, shown } of exif) {
      // Each pixel of the 3 × 2 picture becomes a block of 64 × 64.
      const rgba = new Uint8Array(192 * 128 * 4).fill(255);
      for (let index = 0; index < 192 * 128; index++)
        rgba.fill(storedPixels[Math.floor(index / 192) >> 6]?.[(index % 192) >> 6] ?? 0, index * 4, index * 4 + 3);
      this.#loadPicture({ width: 192, height: 128, orientation, rgba });
      const actual = shown.map((row, y) => row.map((_, x) => this.#reducedAt(y * 64 + 31, x * 64 + 31) / 128));
      this.#expectEqual(`orientation ${String(orientation)}`, actual.join(), shown.join());
    }
  }

  async checkTables(): Promise<void> {
    const { cosines, field, buckets } = this.#request.vectors;
    const dctAddress = 1024; // assembly/memory.ts: DCT and the tables after it
    const coarseDctAddress = dctAddress + 2 * 80 * 128 * 8;
    const powersAddress = coarseDctAddress + 2 * 24 * 48 * 8;
    const coarseBucketsAddress = powersAddress + 4096 * 2 + 2048 * 2;
    this.#expectEqual("cosines", await this.#hashOf(dctAddress, 80 * 128 * 8), cosines.table_sha256);
    this.#expectEqual("coarse cosines", await this.#hashOf(coarseDctAddress, 24 * 48 * 8), cosines.coarse_table_sha256);
    this.#expectEqual("powers", await this.#hashOf(powersAddress, 2047 * 2), field.exp_table_u16le_sha256);
    this.#expectEqual(
      "coarse buckets",
      new Uint16Array(this.#wasm.memory.buffer, coarseBucketsAddress, 206).join(),
      buckets.coarse_buckets.join(),
    );
    const coefficientIndices = new Uint16Array(this.#wasm.memory.buffer, coarseBucketsAddress + 208 * 2, 4094);
    this.#expectEqual(
      "buckets",
      [...coefficientIndices].flatMap((index) => [Math.floor(index / 80), index % 80]).join(),
      this.#request.buckets.join(),
    );
  }

  checkCode(): void {
    const { bch } = this.#request.vectors;
    const wasm = this.#wasm;
    this.#write(wasm.word.value, fromHex(bch.word));
    wasm.computeWordSyndrome();
    this.#expectEqual("syndrome", toHex(copyMemory(wasm, wasm.difference.value, 86)), bch.syndrome);
    for (const { name, positions, difference, decodes } of bch.patterns) {
      this.#write(wasm.difference.value, fromHex(difference));
      this.#expectEqual(`code ${name}`, wasm.decode(), decodes ? positions.length : -1);
      if (decodes) {
        const errors = copyMemory(wasm, wasm.errors.value, 256);
        const positionsFound = Array.from({ length: 2047 }, (_, i) => i).filter(
          (i) => ((errors[i >> 3] ?? 0) >> (i & 7)) & 1,
        );
        this.#expectEqual(`places ${name}`, positionsFound.join(), positions.join());
      }
    }
    for (const [index, difference] of bch.random_differences_that_must_not_decode.entries()) {
      this.#write(wasm.difference.value, fromHex(difference));
      this.#expectEqual(`random difference ${String(index)}`, wasm.decode(), -1);
    }
  }

  async checkPictures(): Promise<void> {
    const wasm = this.#wasm;
    for (const row of this.#request.vectors.pictures) {
      const picture = await this.#read(row.name);
      this.#expectEqual(`${row.name} rgb`, await computeHash(toRgb(picture)), row.rgb_sha256);
      this.#loadPicture(picture);
      this.#expectEqual(
        `${row.name} size`,
        [wasm.reductionFactor(), wasm.satColumns.value, wasm.satRows.value].join(),
        [row.f, ...row.reduced_size].join(),
      );
      wasm.analyseWindow(...enrolmentWindow);
      this.#expectEqual(
        `${row.name} area table`,
        await this.#hashOf(wasm.satAddress(), (wasm.satColumns.value + 1) * (wasm.satRows.value + 1) * 8),
        row.sat_f64le_sha256,
      );
      this.#expectEqual(`${row.name} grid`, await this.#hashOf(wasm.grid.value, 128 * 128 * 8), row.grid_f64le_sha256);
      this.#expectEqual(
        `${row.name} coefficients`,
        await this.#hashOf(wasm.coefficientTable.value, 80 * 80 * 8),
        row.coefficients_f64le_sha256,
      );
      wasm.enrol();
      this.#expectEqual(`${row.name} choice`, toHex(copyMemory(wasm, wasm.outChoice.value, 256)), row.choice);
      this.#expectEqual(`${row.name} bits`, toHex(copyMemory(wasm, wasm.word.value, 256)), row.secret_bits);
      this.#expectEqual(`${row.name} syndrome`, toHex(copyMemory(wasm, wasm.outSyndrome.value, 86)), row.syndrome);
      this.#expectEqual(
        `${row.name} image secret`,
        toHex(copyMemory(wasm, wasm.outImageSecret.value, 32)),
        row.image_secret,
      );
      writeSketch(wasm, 0, readSketch(wasm));
      this.#expectClose(`${row.name} beacon`, wasm.score(0, 0), row.beacon_of_itself);
      this.#checkGate(row.name, picture, row.gate);
    }
  }

  async checkGates(): Promise<void> {
    const wasm = this.#wasm;
    for (const row of this.#request.vectors.gate_generated) {
      const picture = await this.#read(row.name);
      this.#expectEqual(`${row.name} rgb`, await computeHash(toRgb(picture)), row.rgb_sha256);
      this.#loadPicture(picture);
      wasm.analyseWindow(...enrolmentWindow);
      this.#checkGate(row.name, picture, row);
    }
    for (const row of this.#request.vectors.gate_enlarged) {
      const picture = enlargePicture(await this.#read(row.name), row.enlarged);
      const name = `${row.name} × ${String(row.enlarged)}`;
      this.#expectEqual(`${name} rgb`, await computeHash(toRgb(picture)), row.rgb_sha256);
      this.#loadPicture(picture);
      wasm.analyseWindow(...enrolmentWindow);
      this.#checkGate(name, picture, row);
      wasm.enrol();
      const { failedCopies, results } = await testChangedCopies(
        wasm,
        picture,
        readSketch(wasm),
        readImageSecret(wasm),
        noPause,
      );
      this.#expectEqual(`${name} self-test`, failedCopies.length === 0, row.self_test_ok);
      // The counts depend on resizer and codec, so they may differ from the reference's by up to 5.
      row.self_test.forEach(({ errors }, index) => {
        this.#expectEqual(
          `${name} self-test ${String(index)}`,
          Math.abs((errors ?? NaN) - (results[index]?.errors ?? NaN)) <= 5,
          true,
        );
      });
    }
  }

  async checkSearches(): Promise<void> {
    const { orientations, stored, strangers } = this.#request.vectors;
    const rows = [
      ...orientations.map((row) => ({
        ...row,
        enrolled: row.photo,
        file: row.photo,
        exifOrientation: exifOrientations[row.orientation] ?? 0,
      })),
      ...stored.map((row) => ({ ...row, exifOrientation: 1 })),
      ...strangers.map((row) => ({ ...row, file: row.shown, exifOrientation: 1, candidates: [] })),
    ];
    for (const row of rows) {
      const name = `${row.enrolled} in ${row.file}, ${String(row.exifOrientation)}`;
      const { result, candidates, nearest, imageSecret } = await this.#search(row.enrolled, {
        ...(await this.#read(row.file)),
        orientation: row.exifOrientation,
      });
      this.#expectEqual(`${name} outcome`, outcomes[result.outcome], row.reason);
      this.#expectClose(`${name} score`, result.score, row.score);
      this.#expectEqual(`${name} nearest`, nearest, row.nearest);
      if (result.outcome === "recovered") {
        this.#expectEqual(`${name} errors`, result.errors, row.errors);
        this.#expectEqual(`${name} image secret`, toHex(result.imageSecretBytes), imageSecret);
      }
      row.candidates.forEach((expected, index) => {
        const candidate = candidates[index];
        const actual = candidate === undefined ? [] : flattenCandidate(candidate);
        const expectedNumbers = [
          expected.transposed,
          ...expected.start,
          expected.coarse_score,
          expected.score,
          ...expected.window,
        ];
        const firstMismatch = expectedNumbers.findIndex(
          (value, position) => !(Math.abs(value - (actual[position] ?? NaN)) <= 1e-5),
        );
        this.#expectEqual(`${name} candidate ${String(index)}`, firstMismatch, -1);
      });
    }
  }

  async #search(enrolled: string, picture: Raster) {
    const wasm = this.#wasm;
    const enrolledVector = this.#request.vectors.pictures.find(({ name }) => name === enrolled);
    if (enrolledVector === undefined) throw new Error(`no vector for ${enrolled}`);
    this.#loadPicture(picture);
    writeSketch(wasm, 0, { choice: fromHex(enrolledVector.choice), syndrome: fromHex(enrolledVector.syndrome) });
    wasm.runCoarsePass(1, 0, wasm.coarseWindowCount.value);
    const candidates = await refineCandidates(wasm, 0, noPause);
    const result = decodeCandidates(wasm, 0, candidates);
    this.#write(wasm.word.value, fromHex(enrolledVector.secret_bits));
    const distances = candidates.flatMap(({ window, transposed }) => {
      wasm.analyseWindow(...window);
      return [0, 1, 2, 3].map((pattern) => wasm.countDifferingBits(0, transposed ? 1 : 0, pattern & 1, pattern >> 1));
    });
    return { result, candidates, nearest: Math.min(...distances), imageSecret: enrolledVector.image_secret };
  }

  #checkGate(name: string, { width, height }: Raster, row: VectorFile["pictures"][number]["gate"]): void {
    this.#wasm.measureGate();
    const measures = readMeasures(this.#wasm);
    for (const [measure, value] of Object.entries<number>({ ...measures }))
      this.#expectClose(`${name} ${measure}`, value, row.measures[measure] ?? NaN);
    this.#expectEqual(`${name} verdict`, evaluateGate(width, height, measures).verdict, row.verdict);
    this.#expectEqual(
      `${name} verdict without size`,
      evaluateGate(4000, 3000, measures).verdict,
      row.without_size_rule,
    );
  }

  async #read(name: string): Promise<Raster> {
    const generatedPicture = generatePicture(name);
    if (generatedPicture !== null) return generatedPicture;
    const { files, modules } = this.#request;
    const bytes = files.get(name);
    if (bytes === undefined) throw new Error(`file ${name} not found`);
    return decodePicture(bytes, (codec: CodecName) =>
      codec === "jpeg" || codec === "png" ? Promise.resolve(modules[codec]) : Promise.reject(new Error(codec)),
    );
  }

  #lumaOf(pixels: readonly (readonly number[])[]): readonly number[] {
    // The smallest side is 64 pixels, so the tested pixels come first and the others are padding.
    const rgba = new Uint8Array(64 * 64 * 4);
    pixels.forEach((pixel, index) => {
      rgba.set(pixel.length === 4 ? pixel : [...pixel, 255], index * 4);
    });
    this.#wasm.beginPicture(64, 64, 1);
    this.#write(this.#wasm.stripAddress(), rgba);
    this.#wasm.consumeRows(64);
    return [...copyMemory(this.#wasm, this.#wasm.lumaAddress(), pixels.length)];
  }

  /**
   * Value of a reduced pixel, from the area table. Exact, since differences of exact sums are
   * exact.
   */
  #reducedAt(row: number, column: number): number {
    const columns = this.#wasm.satColumns.value + 1;
    const table = new Float64Array(
      this.#wasm.memory.buffer,
      this.#wasm.satAddress(),
      columns * (this.#wasm.satRows.value + 1),
    );
    const valueAt = (y: number, x: number) => table[y * columns + x] ?? NaN;
    return (
      128 *
      (valueAt(row + 1, column + 1) - valueAt(row, column + 1) - (valueAt(row + 1, column) - valueAt(row, column)))
    );
  }

  #loadPicture(picture: Raster): void {
    if (!feedPicture(this.#wasm, toPictureRows(picture))) throw new Error("the engine rejects the picture");
  }

  #write(address: number, bytes: Uint8Array): void {
    new Uint8Array(this.#wasm.memory.buffer).set(bytes, address);
  }

  #hashOf(address: number, length: number): Promise<string> {
    return computeHash(copyMemory(this.#wasm, address, length));
  }

  #expectEqual(name: string, actual: unknown, expected: unknown): void {
    if (actual === expected) this.#passedCount++;
    else this.#failures.push(`${name}: ${String(actual).slice(0, 60)} instead of ${String(expected).slice(0, 60)}`);
  }

  #expectClose(name: string, actual: number, expected: number): void {
    this.#expectEqual(name, Math.abs(actual - expected) <= 1e-5 ? expected : actual, expected);
  }
}

/**
 * Flattens a candidate in the order of the vectors: transposition, steps of the coarse window,
 * scores, window.
 */
function flattenCandidate({ transposed, startWindowIndex, coarseScore, score, window }: Candidate): readonly number[] {
  return [
    transposed ? 1 : 0,
    ...[216, 36, 6, 1].map((divisor) => Math.floor(startWindowIndex / divisor) % 6),
    coarseScore,
    score,
    ...window,
  ];
}

function enlargePicture({ width, height, rgba }: Raster, factor: number): Raster {
  const out = new Uint32Array(width * height * factor * factor);
  const pixels = new Uint32Array(rgba.slice().buffer);
  for (let y = 0, offset = 0; y < height * factor; y++) {
    for (let x = 0; x < width * factor; x++)
      out[offset++] = pixels[Math.floor(y / factor) * width + Math.floor(x / factor)] ?? 0;
  }
  return { width: width * factor, height: height * factor, orientation: 1, rgba: new Uint8Array(out.buffer) };
}

const toHex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const fromHex = (text: string) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const computeHash = async (bytes: Uint8Array) =>
  toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes))));
