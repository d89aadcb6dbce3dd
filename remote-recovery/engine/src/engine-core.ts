/**
 * The engine over compiled modules, in a worker or in Node: it fetches nothing, and has no clock,
 * no randomness and no DOM. Between calls it holds neither pixels nor bits.
 */
import { PortalError } from "@relicario/shared/errors";
import { decodePicture, type CodecName } from "./decoders/decode.ts";
import { unreadable } from "./decoders/picture-file.ts";
import {
  EnginePhase,
  GateVerdict,
  type Engine,
  type EngineOptions,
  type EnrolResult,
  type GateReport,
  type Sketch,
} from "./engine.ts";
import {
  enrolmentWindow,
  feedPicture,
  instantiateEngine,
  readImageSecret,
  readMeasures,
  readSketch,
  type EngineWasm,
} from "./engine-wasm.ts";
import { judge, judgeCopies, noMeasures } from "./gate.ts";
import { rowsOf, type Raster } from "./rows.ts";
import { findSketch, isSketch, type Pause } from "./search.ts";
import type { SearchHelper } from "./second-core.ts";
import { selfTest } from "./self-test/self-test.ts";

/** Compiled modules: the engine, the codecs of most pictures, and perhaps others. */
export type EngineModules = { readonly engine: WebAssembly.Module } & Readonly<
  Record<"jpeg" | "png", WebAssembly.Module>
> &
  Partial<Readonly<Record<LazyCodec, WebAssembly.Module>>>;
/** Codecs that are fetched when a picture needs them. */
export type LazyCodec = Exclude<CodecName, "jpeg" | "png">;

export interface CoreOptions {
  /**
   * Fetches and compiles a codec. Without it, pictures of these kinds are `unsupported`. Its
   * PortalErrors are passed on.
   */
  readonly load?: ((name: LazyCodec) => Promise<WebAssembly.Module>) | undefined;
  /** Another core for searches, if there is one. */
  readonly helper?: SearchHelper | null;
  /** Told of each memory that the engine works in: for tests, which look for what is left there. */
  readonly onMemory?: (memory: WebAssembly.Memory) => void;
}

/** An instance whose memory grew beyond this is dropped after the call instead of kept. */
const keptMemory = 64 * 1024 * 1024;
const smallestSide = 64;

/** Makes an engine. Its calls run one after another. */
export function createEngineCore(modules: EngineModules, { load, helper = null, onMemory }: CoreOptions = {}): Engine {
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

  const loads = new Map<CodecName, Promise<WebAssembly.Module>>();
  /**
   * A codec's module, fetched once; a failed fetch is forgotten, so that the next picture tries
   * again.
   */
  const codec = (name: CodecName): Promise<WebAssembly.Module> => {
    const given = modules[name];
    if (given !== undefined) return Promise.resolve(given);
    if (name === "jpeg" || name === "png" || load === undefined) return Promise.reject(unreadable("unsupported", name));
    const known = loads.get(name) ?? load(name);
    loads.set(name, known);
    known.catch(() => loads.delete(name));
    return known;
  };

  /**
   * Decodes a picture into the engine and gives it to `work` with its size as seen; clears the
   * pixels afterwards.
   */
  const withPicture = async <T>(
    wasm: EngineWasm,
    bytes: Uint8Array,
    pause: EnginePause,
    work: (opened: Opened) => Promise<T> | T,
  ): Promise<T> => {
    await pause(EnginePhase.decoding, 0, 2);
    const raster = await decodePicture(bytes, codec);
    try {
      await pause(EnginePhase.decoding, 1, 2);
      const turned = raster.orientation >= 5;
      const width = turned ? raster.height : raster.width;
      const height = turned ? raster.width : raster.height;
      const fits = Math.min(width, height) >= smallestSide;
      if (fits && !feedPicture(wasm, rowsOf(raster)))
        throw new PortalError("picture_too_large", { details: { width, height } });
      return await work({ raster, width, height, fits });
    } finally {
      raster.release();
    }
  };

  const inspectOpened = (wasm: EngineWasm, { width, height, fits }: Opened): GateReport => {
    if (!fits) return judge(width, height, noMeasures);
    wasm.look(...enrolmentWindow);
    wasm.gate();
    return judge(width, height, readMeasures(wasm));
  };

  const testCopies = async (
    wasm: EngineWasm,
    { raster }: Opened,
    gate: GateReport,
    sketch: Sketch,
    imageSecretBytes: Uint8Array,
    pause: EnginePause,
  ): Promise<GateReport> => {
    const { failed } = await selfTest(wasm, raster, sketch, imageSecretBytes, (done, total) =>
      pause(EnginePhase.selfTest, done, total),
    );
    return judgeCopies(gate, failed);
  };

  return {
    inspect: (picture, options) =>
      withEngine((wasm) => {
        const pause = pauseFor(options);
        return withPicture(wasm, picture, pause, async (opened) => {
          const gate = inspectOpened(wasm, opened);
          if (options?.selfTest !== true || gate.verdict === GateVerdict.red) return gate;
          wasm.enrol();
          const imageSecretBytes = readImageSecret(wasm);
          try {
            return await testCopies(wasm, opened, gate, readSketch(wasm), imageSecretBytes, pause);
          } finally {
            imageSecretBytes.fill(0);
          }
        });
      }),

    enrol: (picture, known, options) =>
      withEngine((wasm) => {
        checkSketches(known);
        const pause = pauseFor(options);
        return withPicture(wasm, picture, pause, async (opened): Promise<EnrolResult> => {
          const gate = inspectOpened(wasm, opened);
          if (!opened.fits) throw tooPlain(gate);
          wasm.enrol();
          const sketch = readSketch(wasm);
          const imageSecretBytes = readImageSecret(wasm);
          try {
            const found = await findSketch(wasm, known, pause, { helper });
            if (found.outcome !== "not_this_picture") {
              const secret = found.outcome === "recovered" ? found.imageSecretBytes : null;
              return {
                gate,
                sketch,
                imageSecretBytes,
                known: { index: found.index, score: found.score, imageSecretBytes: secret },
              };
            }
            if (gate.verdict === GateVerdict.red) throw tooPlain(gate);
            const tested = await testCopies(wasm, opened, gate, sketch, imageSecretBytes, pause);
            if (tested.verdict === GateVerdict.red) throw tooPlain(tested);
            return { gate: tested, sketch, imageSecretBytes, known: null };
          } catch (error) {
            imageSecretBytes.fill(0);
            throw error;
          }
        });
      }),

    recover: (picture, sketches, options) =>
      withEngine((wasm) => {
        checkSketches(sketches);
        const pause = pauseFor(options);
        return withPicture(wasm, picture, pause, (opened) => {
          if (!opened.fits) throw unreadable("too_small");
          opened.raster.release(); // the engine has what it needs
          return findSketch(wasm, sketches, pause, { hint: options?.hint, helper });
        });
      }),
  };
}

/**
 * A decoded picture, also in the engine when it `fits`: no side under 64 pixels. Width and height
 * as seen.
 */
interface Opened {
  readonly raster: Raster & { readonly release: () => void };
  readonly width: number;
  readonly height: number;
  readonly fits: boolean;
}

function checkSketches(sketches: readonly Sketch[]): void {
  if (!sketches.every(isSketch))
    throw new TypeError("a sketch is 256 bytes of choice and 86 of syndrome, unused bits 0");
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
