import type { GateReport, RecoverResult, SearchHint, Sketch } from "../src/engine.ts";
import {
  copyMemory,
  enrolmentWindow,
  feedPicture,
  instantiateEngine,
  readImageSecret,
  readMeasures,
  readSketch,
  writeSketch,
  type EngineWasm,
  type SearchWindow,
} from "../src/engine-wasm.ts";
import { applyDrawn, applySelfTest, evaluateGate } from "../src/gate.ts";
import { looksDrawn } from "../src/drawn.ts";
import { loadModulesInNode } from "../src/load-engine.ts";
import { toPictureRows, type Raster } from "../src/picture-rows.ts";
import { minBeaconScore, decodeCandidates } from "../src/candidates.ts";
import { findSketch, refineCandidates } from "../src/search.ts";
import { testChangedCopies } from "../src/self-test/self-test.ts";

/**
 * Windows in which bit distances are measured: the enrolment window, the whole picture, and two
 * crops.
 */
export const comparedWindows: readonly SearchWindow[] = [
  enrolmentWindow,
  [0, 1, 0, 1],
  [0.03, 0.97, 0.03, 0.97],
  [0.1, 0.96, 0.04, 0.9],
];

/** A picture of the study, with the secret bits. The product never keeps these. */
interface EnrolledPicture {
  readonly gate: GateReport;
  readonly sketch: Sketch;
  readonly bits: Uint8Array;
  readonly imageSecretBytes: Uint8Array;
}

const noPause = () => Promise.resolve();

export class Lab {
  readonly #wasm: EngineWasm;

  private constructor(wasm: EngineWasm) {
    this.#wasm = wasm;
  }

  static async create(): Promise<Lab> {
    return new Lab(instantiateEngine((await loadModulesInNode()).engine));
  }

  enrol(picture: Raster): EnrolledPicture {
    const wasm = this.#wasm;
    this.loadPicture(picture);
    const swapsSides = picture.orientation >= 5;
    wasm.analyseWindow(...enrolmentWindow);
    wasm.measureGate();
    const measuredGate = evaluateGate(
      swapsSides ? picture.height : picture.width,
      swapsSides ? picture.width : picture.height,
      readMeasures(wasm),
    );
    const gate = looksDrawn(picture) ? applyDrawn(measuredGate) : measuredGate;
    wasm.enrol();
    return {
      gate,
      sketch: readSketch(wasm),
      bits: copyMemory(wasm, wasm.word.value, 256),
      imageSecretBytes: readImageSecret(wasm),
    };
  }

  /**
   * Runs the self-test, unless the gate refuses the picture. Returns the final verdict and the
   * errors of each copy.
   */
  async runSelfTest(
    picture: Raster,
    { gate, sketch, imageSecretBytes }: EnrolledPicture,
  ): Promise<{ gate: GateReport; selfTest: (number | null)[] | null }> {
    if (gate.verdict === "red") return { gate, selfTest: null };
    const { failedCopies, results } = await testChangedCopies(this.#wasm, picture, sketch, imageSecretBytes, noPause);
    return { gate: applySelfTest(gate, failedCopies), selfTest: results.map(({ errors }) => errors) };
  }

  /** Recovers like the product, but without first trying the framing of enrolment. */
  async recover(
    copy: Raster,
    { sketch, imageSecretBytes }: EnrolledPicture,
    hint?: SearchHint,
  ): Promise<{ errors: number | null; score: number; outcome: RecoverResult["outcome"] }> {
    this.loadPicture(copy);
    const result = await findSketch(this.#wasm, [sketch], noPause, { tryEnrolmentFraming: false, hint });
    const matches = result.outcome === "recovered" && Buffer.compare(result.imageSecretBytes, imageSecretBytes) === 0;
    return { errors: matches ? result.errors : null, score: result.score, outcome: result.outcome };
  }

  loadPicture(picture: Raster): void {
    if (!feedPicture(this.#wasm, toPictureRows(picture))) throw new Error("the engine rejects the picture");
  }

  /**
   * Bit distances between the loaded picture, in one window and eight orientations, and other
   * pictures.
   */
  *measureDistances(
    window: SearchWindow,
    others: readonly Pick<EnrolledPicture, "sketch" | "bits">[],
  ): Generator<number> {
    const wasm = this.#wasm;
    wasm.analyseWindow(...window);
    for (const { sketch, bits } of others) {
      writeSketch(wasm, 0, sketch);
      new Uint8Array(wasm.memory.buffer).set(bits, wasm.word.value);
      for (let pattern = 0; pattern < 8; pattern++)
        yield wasm.countDifferingBits(0, pattern >> 2, pattern & 1, (pattern >> 1) & 1);
    }
  }

  async searchOtherPicture({
    sketch,
    bits,
  }: Pick<EnrolledPicture, "sketch" | "bits">): Promise<{ score: number; nearest: number; accepted: boolean }> {
    const wasm = this.#wasm;
    writeSketch(wasm, 0, sketch);
    wasm.runCoarsePass(1, 0, wasm.coarseWindowCount.value);
    const candidates = await refineCandidates(wasm, 0, noPause);
    const result = decodeCandidates(wasm, 0, candidates);
    new Uint8Array(wasm.memory.buffer).set(bits, wasm.word.value);
    let nearest = 2047;
    for (const { window, transposed } of candidates) {
      wasm.analyseWindow(...window);
      for (let pattern = 0; pattern < 4; pattern++)
        nearest = Math.min(nearest, wasm.countDifferingBits(0, transposed ? 1 : 0, pattern & 1, pattern >> 1));
    }
    return { score: result.score, nearest, accepted: result.outcome === "recovered" || result.score >= minBeaconScore };
  }
}
