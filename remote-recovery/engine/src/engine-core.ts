/**
 * The engine over compiled modules, in a worker or in Node: it fetches nothing, and has no clock,
 * no randomness and no DOM. Between calls it holds neither pixels nor bits.
 */
import { PortalError } from "@relicario/shared/errors";
import { decodePicture, type CodecName } from "./decoders/decode.ts";
import { unreadableError } from "./decoders/picture-file.ts";
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
import { evaluateGate, applySelfTest, zeroMeasures } from "./gate.ts";
import { toPictureRows, type Raster } from "./rows.ts";
import { findSketch, isValidSketch, type Pause } from "./search.ts";
import type { SearchDelegate } from "./second-core.ts";
import { testChangedCopies } from "./self-test/self-test.ts";

/** Compiled modules: the engine, the codecs of most pictures, and perhaps others. */
export type EngineModules = { readonly engine: WebAssembly.Module } & Readonly<
  Record<"jpeg" | "png", WebAssembly.Module>
> &
  Partial<Readonly<Record<LazyCodec, WebAssembly.Module>>>;
/** Codecs that are fetched when a picture needs them. */
export type LazyCodec = Exclude<CodecName, "jpeg" | "png">;

export interface EngineCoreOptions {
  /**
   * Fetches and compiles a codec. Without it, pictures of these kinds are `unsupported`. Its
   * PortalErrors are passed on.
   */
  readonly loadCodec?: ((name: LazyCodec) => Promise<WebAssembly.Module>) | undefined;
  /** Another core for searches, if there is one. */
  readonly helper?: SearchDelegate | null;
  /** Told of each memory that the engine works in: for tests, which look for what is left there. */
  readonly onMemory?: (memory: WebAssembly.Memory) => void;
}

/** An instance whose memory grew beyond this is dropped after the call instead of kept. */
const maxIdleMemoryBytes = 64 * 1024 * 1024;
const minMeasurableSide = 64;

/** Makes an engine. Its calls run one after another. */
export function createEngineCore(
  modules: EngineModules,
  { loadCodec, helper = null, onMemory }: EngineCoreOptions = {},
): Engine {
  let idleInstance: EngineWasm | null = null;
  let lastCall: Promise<unknown> = Promise.resolve();

  /** Runs after all earlier calls; wipes the engine whatever happens. */
  const withInstance = <T>(callback: (wasm: EngineWasm) => Promise<T>): Promise<T> => {
    const runTask = async () => {
      const wasm = idleInstance ?? instantiateEngine(modules.engine);
      idleInstance = null;
      onMemory?.(wasm.memory);
      try {
        return await callback(wasm);
      } finally {
        wasm.wipe();
        if (wasm.memory.buffer.byteLength <= maxIdleMemoryBytes) idleInstance = wasm;
      }
    };
    const result = lastCall.then(runTask, runTask);
    lastCall = result;
    return result;
  };

  const codecModules = new Map<CodecName, Promise<WebAssembly.Module>>();
  /**
   * A codec's module, fetched once; a failed fetch is forgotten, so that the next picture tries
   * again.
   */
  const getCodecModule = (name: CodecName): Promise<WebAssembly.Module> => {
    const bundledModule = modules[name];
    if (bundledModule !== undefined) return Promise.resolve(bundledModule);
    if (name === "jpeg" || name === "png" || loadCodec === undefined)
      return Promise.reject(unreadableError("unsupported", name));
    const pendingModule = codecModules.get(name) ?? loadCodec(name);
    codecModules.set(name, pendingModule);
    pendingModule.catch(() => codecModules.delete(name));
    return pendingModule;
  };

  /**
   * Decodes a picture into the engine and gives it to `task` with its size as seen; clears the
   * pixels afterwards.
   */
  const withPicture = async <T>(
    wasm: EngineWasm,
    bytes: Uint8Array,
    pause: EnginePause,
    callback: (opened: OpenedPicture) => Promise<T> | T,
  ): Promise<T> => {
    await pause(EnginePhase.decoding, 0, 2);
    const raster = await decodePicture(bytes, getCodecModule);
    try {
      await pause(EnginePhase.decoding, 1, 2);
      const swapsSides = raster.orientation >= 5;
      const width = swapsSides ? raster.height : raster.width;
      const height = swapsSides ? raster.width : raster.height;
      const loaded = Math.min(width, height) >= minMeasurableSide;
      if (loaded && !feedPicture(wasm, toPictureRows(raster)))
        throw new PortalError("picture_too_large", { details: { width, height } });
      return await callback({ raster, width, height, loaded });
    } finally {
      raster.release();
    }
  };

  const inspectPicture = (wasm: EngineWasm, { width, height, loaded }: OpenedPicture): GateReport => {
    if (!loaded) return evaluateGate(width, height, zeroMeasures);
    wasm.analyseWindow(...enrolmentWindow);
    wasm.measureGate();
    return evaluateGate(width, height, readMeasures(wasm));
  };

  const runSelfTest = async (
    wasm: EngineWasm,
    { raster }: OpenedPicture,
    gate: GateReport,
    sketch: Sketch,
    imageSecretBytes: Uint8Array,
    pause: EnginePause,
  ): Promise<GateReport> => {
    const { failed } = await testChangedCopies(wasm, raster, sketch, imageSecretBytes, (done, total) =>
      pause(EnginePhase.selfTest, done, total),
    );
    return applySelfTest(gate, failed);
  };

  return {
    inspect: (picture, options) =>
      withInstance((wasm) => {
        const pause = createPause(options);
        return withPicture(wasm, picture, pause, async (openedPicture) => {
          const gate = inspectPicture(wasm, openedPicture);
          if (options?.selfTest !== true || gate.verdict === GateVerdict.refused) return gate;
          wasm.enrol();
          const imageSecretBytes = readImageSecret(wasm);
          try {
            return await runSelfTest(wasm, openedPicture, gate, readSketch(wasm), imageSecretBytes, pause);
          } finally {
            imageSecretBytes.fill(0);
          }
        });
      }),

    enrol: (picture, knownSketches, options) =>
      withInstance((wasm) => {
        requireSketches(knownSketches);
        const pause = createPause(options);
        return withPicture(wasm, picture, pause, async (openedPicture): Promise<EnrolResult> => {
          const gate = inspectPicture(wasm, openedPicture);
          if (!openedPicture.loaded) throw tooPlainError(gate);
          wasm.enrol();
          const sketch = readSketch(wasm);
          const imageSecretBytes = readImageSecret(wasm);
          try {
            const knownMatch = await findSketch(wasm, knownSketches, pause, { helper });
            if (knownMatch.outcome !== "not_this_picture") {
              const secret = knownMatch.outcome === "recovered" ? knownMatch.imageSecretBytes : null;
              return {
                gate,
                sketch,
                imageSecretBytes,
                knownPicture: { index: knownMatch.index, score: knownMatch.score, imageSecretBytes: secret },
              };
            }
            if (gate.verdict === GateVerdict.refused) throw tooPlainError(gate);
            const testedGate = await runSelfTest(wasm, openedPicture, gate, sketch, imageSecretBytes, pause);
            if (testedGate.verdict === GateVerdict.refused) throw tooPlainError(testedGate);
            return { gate: testedGate, sketch, imageSecretBytes, knownPicture: null };
          } catch (error) {
            imageSecretBytes.fill(0);
            throw error;
          }
        });
      }),

    recover: (picture, sketches, options) =>
      withInstance((wasm) => {
        requireSketches(sketches);
        const pause = createPause(options);
        return withPicture(wasm, picture, pause, (openedPicture) => {
          if (!openedPicture.loaded) throw unreadableError("too_small");
          openedPicture.raster.release(); // the engine has what it needs
          return findSketch(wasm, sketches, pause, { hint: options?.hint, helper });
        });
      }),
  };
}

/**
 * A decoded picture, also in the engine when it is `loaded`: no side under 64 pixels. Width and
 * height as seen.
 */
interface OpenedPicture {
  readonly raster: Raster & { readonly release: () => void };
  readonly width: number;
  readonly height: number;
  readonly loaded: boolean;
}

function requireSketches(sketches: readonly Sketch[]): void {
  if (!sketches.every(isValidSketch))
    throw new TypeError("a sketch is 256 bytes of choice and 86 of syndrome, unused bits 0");
}

function tooPlainError({ refusalReasons, width, height }: GateReport): PortalError {
  return new PortalError("picture_too_plain", { details: { reasons: refusalReasons, width, height } });
}

type EnginePause = (phase: EnginePhase, done: number, total: number) => Promise<void>;

/** Reports, lets messages in, and ends the call when its signal is aborted. */
function createPause(options: EngineOptions | undefined): EnginePause & Pause {
  return async (phase, done, total) => {
    options?.onProgress?.({ phase, done, total });
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    if (options?.signal?.aborted === true) throw new PortalError("cancelled", { cause: options.signal.reason });
  };
}
