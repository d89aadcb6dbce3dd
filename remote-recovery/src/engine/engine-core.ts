/**
 * The engine over compiled modules, in a worker or in Node: it fetches nothing, and has no clock, no randomness and no DOM.
 * Between calls it holds neither pixels nor bits.
 */
import { PortalError } from "@relicario/shared/errors";
import { decodePicture, type CodecName } from "./decoders/decode.ts";
import { unreadable } from "./decoders/header.ts";
import { EnginePhase, GateVerdict, type Engine, type EngineOptions, type EnrolResult, type GateReport, type RecoverResult, type Sketch } from "./engine.ts";
import {
  enrolmentWindow, feedPicture, instantiateEngine, readImageSecret, readMeasures, readSketch, type EngineWasm,
} from "./engine-wasm.ts";
import { judge, noMeasures } from "./gate.ts";
import { findSketch, isSketch, type Pause } from "./search.ts";

/** Compiled modules: the engine and the codecs. */
export type EngineModules = { readonly engine: WebAssembly.Module } & Readonly<Record<CodecName, WebAssembly.Module>>;

/** An instance whose memory grew beyond this is dropped after the call instead of kept. */
const keptMemory = 64 * 1024 * 1024;
const smallestSide = 64;

/**
 * Makes an engine. Its calls run one after another. `onMemory` is told of each memory that it works in: for tests, which
 * look for what is left there.
 */
export function createEngineCore(modules: EngineModules, onMemory?: (memory: WebAssembly.Memory) => void): Engine {
  let kept: EngineWasm | null = null;
  let last: Promise<unknown> = Promise.resolve();

  /** Runs after all earlier calls; wipes the engine whatever happens. */
  const withEngine = <T>(work: (wasm: EngineWasm) => Promise<T>): Promise<T> => {
    const run = async () => {
      const wasm = kept ?? instantiateEngine(modules.engine);
      kept = null;
      onMemory?.(wasm.memory);
      try {
        return await work(wasm);
      } finally {
        wasm.wipe();
        if (wasm.memory.buffer.byteLength <= keptMemory) kept = wasm;
      }
    };
    const result = last.then(run, run);
    last = result;
    return result;
  };

  /** Decodes a picture into the engine; its size as seen. False when it is under 64 pixels. */
  const open = async (wasm: EngineWasm, picture: Uint8Array, pause: EnginePause): Promise<{ width: number; height: number; fits: boolean }> => {
    await pause(EnginePhase.decoding, 0, 2);
    const raster = await decodePicture(picture, (name) => Promise.resolve(modules[name]));
    try {
      await pause(EnginePhase.decoding, 1, 2);
      const turned = raster.orientation >= 5;
      const width = turned ? raster.height : raster.width;
      const height = turned ? raster.width : raster.height;
      if (Math.min(width, height) < smallestSide) return { width, height, fits: false };
      if (!feedPicture(wasm, raster)) throw new PortalError("picture_too_large", { details: { width, height } });
      return { width, height, fits: true };
    } finally {
      raster.release();
    }
  };

  const inspectOpened = (wasm: EngineWasm, size: { width: number; height: number; fits: boolean }): GateReport => {
    if (!size.fits) return judge(size.width, size.height, noMeasures);
    wasm.look(...enrolmentWindow);
    wasm.gate();
    return judge(size.width, size.height, readMeasures(wasm));
  };

  return {
    inspect: (picture, options) =>
      withEngine(async (wasm) => inspectOpened(wasm, await open(wasm, picture, pauseFor(options)))),

    enrol: (picture, known, options) =>
      withEngine(async (wasm): Promise<EnrolResult> => {
        checkSketches(known);
        const pause = pauseFor(options);
        const size = await open(wasm, picture, pause);
        const gate = inspectOpened(wasm, size);
        if (!size.fits) throw tooPlain(gate);
        wasm.enrol();
        const sketch = readSketch(wasm);
        const imageSecretBytes = readImageSecret(wasm);
        const found = known.length === 0 ? null : await findSketch(wasm, known, pause);
        if (found !== null && found.outcome !== "not_this_picture") {
          const fits = { index: found.index, score: found.score };
          const secret = found.outcome === "recovered" ? found.imageSecretBytes : null;
          return { gate, sketch, imageSecretBytes, known: { ...fits, imageSecretBytes: secret } };
        }
        if (gate.verdict === GateVerdict.red) {
          imageSecretBytes.fill(0);
          throw tooPlain(gate);
        }
        return { gate, sketch, imageSecretBytes, known: null };
      }),

    recover: (picture, sketches, options) =>
      withEngine(async (wasm): Promise<RecoverResult> => {
        checkSketches(sketches);
        const pause = pauseFor(options);
        const { fits } = await open(wasm, picture, pause);
        if (!fits) throw unreadable("too_small");
        return findSketch(wasm, sketches, pause);
      }),
  };
}

function checkSketches(sketches: readonly Sketch[]): void {
  if (!sketches.every(isSketch)) throw new TypeError("a sketch is 256 bytes of choice and 86 of syndrome, unused bits 0");
}

function tooPlain({ redReasons, width, height }: GateReport): PortalError {
  return new PortalError("picture_too_plain", { details: { reasons: redReasons, width, height } });
}

type EnginePause = (phase: EnginePhase, done: number, total: number) => Promise<void>;

/** Reports, lets messages in, and ends the call when its signal is aborted. */
function pauseFor(options: EngineOptions | undefined): EnginePause & Pause {
  return async (phase, done, total) => {
    options?.onProgress?.({ phase, done, total });
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    if (options?.signal?.aborted === true) throw new PortalError("cancelled", { cause: options.signal.reason });
  };
}
