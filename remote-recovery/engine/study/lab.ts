import type { GateReport, RecoverResult, Sketch } from "../../src/engine/engine.ts";
import {
  copyOut, enrolmentWindow, feedPicture, instantiateEngine, readImageSecret, readMeasures, readSketch, writeSketch, type EngineWasm, type Window,
} from "../../src/engine/engine-wasm.ts";
import { judge, refuse } from "../../src/engine/gate.ts";
import { loadModulesInNode } from "../../src/engine/load-engine.ts";
import { rowsOf, type Raster } from "../../src/engine/rows.ts";
import { beaconFloor, decodeCandidates, findSketch, refineAll } from "../../src/engine/search.ts";
import { selfTest } from "../../src/engine/self-test/self-test.ts";
import { longSide } from "./changes.ts";

/** Windows of the bit distances: that of enrolment, the whole picture, and two crops. */
export const coefficientsOf: readonly Window[] = [enrolmentWindow, [0, 1, 0, 1], [0.03, 0.97, 0.03, 0.97], [0.1, 0.96, 0.04, 0.9]];

/** A picture of the study. Its secret bits are kept: this is a laboratory. */
export interface Enrolled {
  readonly gate: GateReport;
  /** Errors of the four copies; null when the gate refused it before. */
  readonly selfTest: readonly (number | null)[] | null;
  readonly sketch: Sketch;
  readonly bits: Uint8Array;
  readonly imageSecretBytes: Uint8Array;
  /** A small copy, to be searched as a stranger. */
  readonly small: Raster;
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

  async enrol(picture: Raster): Promise<Enrolled> {
    const wasm = this.#wasm;
    feedPicture(wasm, rowsOf(picture));
    const turned = picture.orientation >= 5;
    wasm.look(...enrolmentWindow);
    wasm.gate();
    let gate = judge(turned ? picture.height : picture.width, turned ? picture.width : picture.height, readMeasures(wasm));
    wasm.enrol();
    const sketch = readSketch(wasm);
    const bits = copyOut(wasm, wasm.word.value, 256);
    const imageSecretBytes = readImageSecret(wasm);
    let tested: readonly (number | null)[] | null = null;
    if (gate.verdict !== "red") {
      const { passed, rows } = await selfTest(wasm, picture, sketch, imageSecretBytes, noPause);
      tested = rows.map(({ errors }) => errors);
      if (!passed) gate = refuse(gate, "self_test");
    }
    return { gate, selfTest: tested, sketch, bits, imageSecretBytes, small: longSide(picture, 1200) };
  }

  /** Blind recovery, as the product does it but without trying the same framing first. */
  async recover(copy: Raster, { sketch, imageSecretBytes }: Enrolled): Promise<{ errors: number | null; score: number; outcome: RecoverResult["outcome"] }> {
    feedPicture(this.#wasm, rowsOf(copy));
    const result = await findSketch(this.#wasm, [sketch], noPause, { straight: false });
    const same = result.outcome === "recovered" && Buffer.compare(result.imageSecretBytes, imageSecretBytes) === 0;
    return { errors: same ? result.errors : null, score: result.score, outcome: result.outcome };
  }

  /** Bit distances of a picture in a window from the bits of all others, in eight orientations. */
  *distances(shown: Enrolled, window: Window, all: readonly Enrolled[]): Generator<number> {
    const wasm = this.#wasm;
    feedPicture(wasm, rowsOf(shown.small));
    wasm.look(...window);
    for (const other of all) {
      if (other === shown) continue;
      writeSketch(wasm, 0, other.sketch);
      new Uint8Array(wasm.memory.buffer).set(other.bits, wasm.word.value);
      for (let pattern = 0; pattern < 8; pattern++) yield wasm.distance(0, pattern >> 2, pattern & 1, (pattern >> 1) & 1);
    }
  }

  /** A full search for another picture's sketch. */
  async searchStranger(shown: Enrolled, sought: Enrolled): Promise<{ score: number; nearest: number; accepted: boolean }> {
    const wasm = this.#wasm;
    feedPicture(wasm, rowsOf(shown.small));
    writeSketch(wasm, 0, sought.sketch);
    wasm.coarse(1, 0, wasm.coarseWindows.value);
    const found = await refineAll(wasm, 0, noPause);
    const result = decodeCandidates(wasm, 0, found);
    new Uint8Array(wasm.memory.buffer).set(sought.bits, wasm.word.value);
    let nearest = 2047;
    for (const { window, transposed } of found) {
      wasm.look(...window);
      for (let pattern = 0; pattern < 4; pattern++) nearest = Math.min(nearest, wasm.distance(0, transposed ? 1 : 0, pattern & 1, pattern >> 1));
    }
    return { score: result.score, nearest, accepted: result.outcome === "recovered" || result.score >= beaconFloor };
  }
}
