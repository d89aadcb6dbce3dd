/** Recomputes every vector and reports each difference: in Node, and in a browser's worker. */
import { decodePicture, type CodecName } from "../src/decoders/decode.ts";
import type { RecoverResult } from "../src/engine.ts";
import {
  copyOut,
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
import { judge } from "../src/gate.ts";
import { rowsOf, type Raster } from "../src/rows.ts";
import { decodeCandidates } from "../src/candidates.ts";
import { refineAll } from "../src/search.ts";
import { selfTest } from "../src/self-test/self-test.ts";
import { generated, rgbOf } from "../tests/generated.ts";
import type { VectorFile } from "../tests/vectors.ts";

export interface Order {
  readonly modules: Readonly<Record<"engine" | "jpeg" | "png", WebAssembly.Module>>;
  readonly vectors: VectorFile;
  /** [v, u] of all 4094 members. */
  readonly buckets: readonly number[];
  readonly files: ReadonlyMap<string, Uint8Array>;
}

export interface Answer {
  readonly passed: number;
  readonly failed: readonly string[];
}

const exifOf: Readonly<Record<string, number>> = {
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

export async function recompute(order: Order): Promise<Answer> {
  const bench = new Bench(order);
  bench.pixels();
  await bench.tables();
  bench.code();
  await bench.pictures();
  await bench.gates();
  await bench.searches();
  return bench.answer();
}

class Bench {
  readonly #order: Order;
  readonly #wasm: EngineWasm;
  readonly #failed: string[] = [];
  #passed = 0;

  constructor(order: Order) {
    this.#order = order;
    this.#wasm = instantiateEngine(order.modules.engine);
  }

  answer(): Answer {
    return { passed: this.#passed, failed: this.#failed };
  }

  /** Luma, alpha, rounding, orientations. */
  pixels(): void {
    const { luma, alpha, reduced, exif, exif_stored: stored } = this.#order.vectors.pixels;
    this.#same("luma", this.#lumaOf(luma.map((row) => row.slice(0, 3))).join(), luma.map((row) => row[3]).join());
    this.#same(
      "alpha",
      this.#lumaOf(alpha.map((row) => row.slice(0, 4))).join(),
      this.#lumaOf(alpha.map((row) => row.slice(4))).join(),
    );
    for (const [f = 1, sum = 0, wanted = 0] of reduced) {
      const side = f * 384;
      const rgba = new Uint8Array(side * side * 4).fill(255);
      // The first block holds the sum, spread over its pixels.
      for (let i = 0; i < f * f; i++) {
        const at = ((i % f) + Math.floor(i / f) * side) * 4;
        rgba.fill(Math.floor(sum / (f * f)) + (i < sum % (f * f) ? 1 : 0), at, at + 3);
      }
      this.#open({ width: side, height: side, orientation: 1, rgba });
      this.#same(`reduced ${String(f)} ${String(sum)}`, this.#reducedAt(0, 0), wanted);
    }
    for (const { orientation, shown } of exif) {
      // Each pixel of the 3 × 2 picture stands for a block of 64 × 64.
      const rgba = new Uint8Array(192 * 128 * 4).fill(255);
      for (let at = 0; at < 192 * 128; at++)
        rgba.fill(stored[Math.floor(at / 192) >> 6]?.[(at % 192) >> 6] ?? 0, at * 4, at * 4 + 3);
      this.#open({ width: 192, height: 128, orientation, rgba });
      const seen = shown.map((row, y) => row.map((_, x) => this.#reducedAt(y * 64 + 31, x * 64 + 31) / 128));
      this.#same(`orientation ${String(orientation)}`, seen.join(), shown.join());
    }
  }

  async tables(): Promise<void> {
    const { cosines, field, buckets } = this.#order.vectors;
    const dct = 1024; // assembly/memory.ts: DCT and what follows it
    const coarse = dct + 2 * 80 * 128 * 8;
    const exp = coarse + 2 * 24 * 48 * 8;
    const low = exp + 4096 * 2 + 2048 * 2;
    this.#same("cosines", await this.#part(dct, 80 * 128 * 8), cosines.table_sha256);
    this.#same("coarse cosines", await this.#part(coarse, 24 * 48 * 8), cosines.coarse_table_sha256);
    this.#same("powers", await this.#part(exp, 2047 * 2), field.exp_table_u16le_sha256);
    this.#same(
      "coarse buckets",
      new Uint16Array(this.#wasm.memory.buffer, low, 206).join(),
      buckets.coarse_buckets.join(),
    );
    const places = new Uint16Array(this.#wasm.memory.buffer, low + 208 * 2, 4094);
    this.#same(
      "buckets",
      [...places].flatMap((place) => [Math.floor(place / 80), place % 80]).join(),
      this.#order.buckets.join(),
    );
  }

  code(): void {
    const { bch } = this.#order.vectors;
    const wasm = this.#wasm;
    this.#put(wasm.word.value, fromHex(bch.word));
    wasm.syndromeOfWord();
    this.#same("syndrome", toHex(copyOut(wasm, wasm.difference.value, 86)), bch.syndrome);
    for (const { name, positions, difference, decodes } of bch.patterns) {
      this.#put(wasm.difference.value, fromHex(difference));
      this.#same(`code ${name}`, wasm.decode(), decodes ? positions.length : -1);
      if (decodes) {
        const errors = copyOut(wasm, wasm.errors.value, 256);
        const found = Array.from({ length: 2047 }, (_, i) => i).filter((i) => ((errors[i >> 3] ?? 0) >> (i & 7)) & 1);
        this.#same(`places ${name}`, found.join(), positions.join());
      }
    }
    for (const [index, difference] of bch.random_differences_that_must_not_decode.entries()) {
      this.#put(wasm.difference.value, fromHex(difference));
      this.#same(`random difference ${String(index)}`, wasm.decode(), -1);
    }
  }

  async pictures(): Promise<void> {
    const wasm = this.#wasm;
    for (const row of this.#order.vectors.pictures) {
      const picture = await this.#read(row.name);
      this.#same(`${row.name} rgb`, await hash(rgbOf(picture)), row.rgb_sha256);
      this.#open(picture);
      this.#same(
        `${row.name} size`,
        [wasm.reductionFactor(), wasm.satColumns.value, wasm.satRows.value].join(),
        [row.f, ...row.reduced_size].join(),
      );
      wasm.look(...enrolmentWindow);
      this.#same(
        `${row.name} area table`,
        await this.#part(wasm.satAddress(), (wasm.satColumns.value + 1) * (wasm.satRows.value + 1) * 8),
        row.sat_f64le_sha256,
      );
      this.#same(`${row.name} grid`, await this.#part(wasm.grid.value, 128 * 128 * 8), row.grid_f64le_sha256);
      this.#same(
        `${row.name} coefficients`,
        await this.#part(wasm.coefficientTable.value, 80 * 80 * 8),
        row.coefficients_f64le_sha256,
      );
      wasm.enrol();
      this.#same(`${row.name} choice`, toHex(copyOut(wasm, wasm.outChoice.value, 256)), row.choice);
      this.#same(`${row.name} bits`, toHex(copyOut(wasm, wasm.word.value, 256)), row.secret_bits);
      this.#same(`${row.name} syndrome`, toHex(copyOut(wasm, wasm.outSyndrome.value, 86)), row.syndrome);
      this.#same(`${row.name} image secret`, toHex(copyOut(wasm, wasm.outImageSecret.value, 32)), row.image_secret);
      writeSketch(wasm, 0, readSketch(wasm));
      this.#near(`${row.name} beacon`, wasm.score(0, 0), row.beacon_of_itself);
      this.#gate(row.name, picture, row.gate);
    }
  }

  /** Verdicts on generated and enlarged pictures, and the self-test. */
  async gates(): Promise<void> {
    const wasm = this.#wasm;
    for (const row of this.#order.vectors.gate_generated) {
      const picture = await this.#read(row.name);
      this.#same(`${row.name} rgb`, await hash(rgbOf(picture)), row.rgb_sha256);
      this.#open(picture);
      wasm.look(...enrolmentWindow);
      this.#gate(row.name, picture, row);
    }
    for (const row of this.#order.vectors.gate_enlarged) {
      const picture = enlarge(await this.#read(row.name), row.enlarged);
      const name = `${row.name} × ${String(row.enlarged)}`;
      this.#same(`${name} rgb`, await hash(rgbOf(picture)), row.rgb_sha256);
      this.#open(picture);
      wasm.look(...enrolmentWindow);
      this.#gate(name, picture, row);
      wasm.enrol();
      const { failed, rows } = await selfTest(wasm, picture, readSketch(wasm), readImageSecret(wasm), noPause);
      this.#same(`${name} self-test`, failed.length === 0, row.self_test_ok);
      // The counts depend on resizer and codec: within 5 of the reference's.
      row.self_test.forEach(({ errors }, index) => {
        this.#same(
          `${name} self-test ${String(index)}`,
          Math.abs((errors ?? NaN) - (rows[index]?.errors ?? NaN)) <= 5,
          true,
        );
      });
    }
  }

  async searches(): Promise<void> {
    const { orientations, stored, strangers } = this.#order.vectors;
    const rows = [
      ...orientations.map((row) => ({
        ...row,
        enrolled: row.photo,
        file: row.photo,
        turn: exifOf[row.orientation] ?? 0,
      })),
      ...stored.map((row) => ({ ...row, turn: 1 })),
      ...strangers.map((row) => ({ ...row, file: row.shown, turn: 1, candidates: [] })),
    ];
    for (const row of rows) {
      const name = `${row.enrolled} in ${row.file}, ${String(row.turn)}`;
      const { result, found, nearest, imageSecret } = await this.#search(row.enrolled, {
        ...(await this.#read(row.file)),
        orientation: row.turn,
      });
      this.#same(`${name} outcome`, outcomes[result.outcome], row.reason);
      this.#near(`${name} score`, result.score, row.score);
      this.#same(`${name} nearest`, nearest, row.nearest);
      if (result.outcome === "recovered") {
        this.#same(`${name} errors`, result.errors, row.errors);
        this.#same(`${name} image secret`, toHex(result.imageSecretBytes), imageSecret);
      }
      row.candidates.forEach((wanted, index) => {
        const candidate = found[index];
        const seen = candidate === undefined ? [] : numbersOf(candidate);
        const numbers = [wanted.transposed, ...wanted.start, wanted.coarse_score, wanted.score, ...wanted.window];
        const far = numbers.findIndex((value, at) => !(Math.abs(value - (seen[at] ?? NaN)) <= 1e-5));
        this.#same(`${name} candidate ${String(index)}`, far, -1);
      });
    }
  }

  async #search(enrolled: string, shown: Raster) {
    const wasm = this.#wasm;
    const sought = this.#order.vectors.pictures.find(({ name }) => name === enrolled);
    if (sought === undefined) throw new Error(`no vector of ${enrolled}`);
    this.#open(shown);
    writeSketch(wasm, 0, { choice: fromHex(sought.choice), syndrome: fromHex(sought.syndrome) });
    wasm.coarse(1, 0, wasm.coarseWindows.value);
    const found = await refineAll(wasm, 0, noPause);
    const result = decodeCandidates(wasm, 0, found);
    this.#put(wasm.word.value, fromHex(sought.secret_bits));
    const distances = found.flatMap(({ window, transposed }) => {
      wasm.look(...window);
      return [0, 1, 2, 3].map((pattern) => wasm.distance(0, transposed ? 1 : 0, pattern & 1, pattern >> 1));
    });
    return { result, found, nearest: Math.min(...distances), imageSecret: sought.image_secret };
  }

  #gate(name: string, { width, height }: Raster, row: VectorFile["pictures"][number]["gate"]): void {
    this.#wasm.gate();
    const measures = readMeasures(this.#wasm);
    for (const [measure, value] of Object.entries<number>({ ...measures }))
      this.#near(`${name} ${measure}`, value, row.measures[measure] ?? NaN);
    this.#same(`${name} verdict`, judge(width, height, measures).verdict, row.verdict);
    this.#same(`${name} verdict without size`, judge(4000, 3000, measures).verdict, row.without_size_rule);
  }

  /** A photograph, a stored file, or a generated picture. */
  async #read(name: string): Promise<Raster> {
    const made = generated(name);
    if (made !== null) return made;
    const { files, modules } = this.#order;
    const bytes = files.get(name);
    if (bytes === undefined) throw new Error(`no file ${name}`);
    return decodePicture(bytes, (codec: CodecName) =>
      codec === "jpeg" || codec === "png" ? Promise.resolve(modules[codec]) : Promise.reject(new Error(codec)),
    );
  }

  #lumaOf(pixels: readonly (readonly number[])[]): readonly number[] {
    // 64 pixels a side is the least; the pixels in question come first.
    const rgba = new Uint8Array(64 * 64 * 4);
    pixels.forEach((pixel, index) => {
      rgba.set(pixel.length === 4 ? pixel : [...pixel, 255], index * 4);
    });
    this.#wasm.beginPicture(64, 64, 1);
    this.#put(this.#wasm.stripAddress(), rgba);
    this.#wasm.takeRows(64);
    return [...copyOut(this.#wasm, this.#wasm.lumaAddress(), pixels.length)];
  }

  /**
   * A value of the reduced picture, back from its area table: differences of exact sums are exact.
   */
  #reducedAt(row: number, column: number): number {
    const columns = this.#wasm.satColumns.value + 1;
    const table = new Float64Array(
      this.#wasm.memory.buffer,
      this.#wasm.satAddress(),
      columns * (this.#wasm.satRows.value + 1),
    );
    const at = (y: number, x: number) => table[y * columns + x] ?? NaN;
    return 128 * (at(row + 1, column + 1) - at(row, column + 1) - (at(row + 1, column) - at(row, column)));
  }

  #open(picture: Raster): void {
    if (!feedPicture(this.#wasm, rowsOf(picture))) throw new Error("the engine refused the picture");
  }

  #put(address: number, bytes: Uint8Array): void {
    new Uint8Array(this.#wasm.memory.buffer).set(bytes, address);
  }

  #part(address: number, length: number): Promise<string> {
    return hash(copyOut(this.#wasm, address, length));
  }

  #same(name: string, seen: unknown, wanted: unknown): void {
    if (seen === wanted) this.#passed++;
    else this.#failed.push(`${name}: ${String(seen).slice(0, 60)} instead of ${String(wanted).slice(0, 60)}`);
  }

  #near(name: string, seen: number, wanted: number): void {
    this.#same(name, Math.abs(seen - wanted) <= 1e-5 ? wanted : seen, wanted);
  }
}

/** As the vectors write a candidate: transposition, the coarse window's steps, scores, window. */
function numbersOf({ transposed, start, coarseScore, score, window }: Candidate): readonly number[] {
  return [
    transposed ? 1 : 0,
    ...[216, 36, 6, 1].map((divisor) => Math.floor(start / divisor) % 6),
    coarseScore,
    score,
    ...window,
  ];
}

function enlarge({ width, height, rgba }: Raster, n: number): Raster {
  const out = new Uint32Array(width * height * n * n);
  const pixels = new Uint32Array(rgba.slice().buffer);
  for (let y = 0, at = 0; y < height * n; y++) {
    for (let x = 0; x < width * n; x++) out[at++] = pixels[Math.floor(y / n) * width + Math.floor(x / n)] ?? 0;
  }
  return { width: width * n, height: height * n, orientation: 1, rgba: new Uint8Array(out.buffer) };
}

const toHex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const fromHex = (text: string) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const hash = async (bytes: Uint8Array) =>
  toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes))));
