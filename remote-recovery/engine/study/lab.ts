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
import { evaluateGate, applySelfTest } from "../src/gate.ts";
import { loadModulesInNode } from "../src/load-engine.ts";
import { toPictureRows, type Raster } from "../src/rows.ts";
import { minBeaconScore, decodeCandidates } from "../src/candidates.ts";
import { findSketch, refineCandidates } from "../src/search.ts";
import { testChangedCopies } from "../src/self-test/self-test.ts";

/** Windows of the bit distances: that of enrolment, the whole picture, and two crops. */
export const comparedWindows: readonly SearchWindow[] = [
  enrolmentWindow,
  [0, 1, 0, 1],
  [0.03, 0.97, 0.03, 0.97],
  [0.1, 0.96, 0.04, 0.9],
];

/** A picture of the study. Its secret bits are kept: this is a laboratory. */
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
    const gate = evaluateGate(
      swapsSides ? picture.height : picture.width,
      swapsSides ? picture.width : picture.height,
      readMeasures(wasm),
    );
    wasm.enrol();
    return {
      gate,
      sketch: readSketch(wasm),
      bits: copyMemory(wasm, wasm.word.value, 256),
      imageSecretBytes: readImageSecret(wasm),
    };
  }

  /**
   * The self-test of a picture that the gate lets pass: errors of its copies, and the final word.
   */
  async runSelfTest(
    picture: Raster,
    { gate, sketch, imageSecretBytes }: EnrolledPicture,
  ): Promise<{ gate: GateReport; selfTest: (number | null)[] | null }> {
    if (gate.verdict === "red") return { gate, selfTest: null };
    const { failed, rows } = await testChangedCopies(this.#wasm, picture, sketch, imageSecretBytes, noPause);
    return { gate: applySelfTest(gate, failed), selfTest: rows.map(({ errors }) => errors) };
  }

  /** Blind recovery, as the product does it but without trying the same framing first. */
  async recover(
    copy: Raster,
    { sketch, imageSecretBytes }: EnrolledPicture,
    hint?: SearchHint,
  ): Promise<{ errors: number | null; score: number; outcome: RecoverResult["outcome"] }> {
    this.loadPicture(copy);
    const result = await findSketch(this.#wasm, [sketch], noPause, { tryDirect: false, hint });
    const matches = result.outcome === "recovered" && Buffer.compare(result.imageSecretBytes, imageSecretBytes) === 0;
    return { errors: matches ? result.errors : null, score: result.score, outcome: result.outcome };
  }

  /** Puts a picture into the engine, as a stranger. */
  loadPicture(picture: Raster): void {
    if (!feedPicture(this.#wasm, toPictureRows(picture))) throw new Error("the engine refused the picture");
  }

  /**
   * Bit distances of the picture shown, in a window, from the bits of others, in eight
   * orientations.
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
        yield wasm.distance(0, pattern >> 2, pattern & 1, (pattern >> 1) & 1);
    }
  }

  /** A full search of the picture shown for another one's sketch. */
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
        nearest = Math.min(nearest, wasm.distance(0, transposed ? 1 : 0, pattern & 1, pattern >> 1));
    }
    return { score: result.score, nearest, accepted: result.outcome === "recovered" || result.score >= minBeaconScore };
  }
}
