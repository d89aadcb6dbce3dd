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
import { evaluateGate, applySelfTest, noMeasures } from "./gate.ts";
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
  readonly loadCodec?: ((name: LazyCodec) => Promise<WebAssembly.Module>) | undefined;
  /** Another core for searches, if there is one. */
  readonly helper?: SearchHelper | null;
  /** Told of each memory that the engine works in: for tests, which look for what is left there. */
  readonly onMemory?: (memory: WebAssembly.Memory) => void;
}

/** An instance whose memory grew beyond this is dropped after the call instead of kept. */
const maxIdleMemory = 64 * 1024 * 1024;
const minSide = 64;

/** Makes an engine. Its calls run one after another. */
export function createEngineCore(
  modules: EngineModules,
  { loadCodec, helper = null, onMemory }: CoreOptions = {},
): Engine {
  let idleInstance: EngineWasm | null = null;
  let lastCall: Promise<unknown> = Promise.resolve();

  /** Runs after all earlier calls; wipes the engine whatever happens. */
  const withEngine = <T>(task: (wasm: EngineWasm) => Promise<T>): Promise<T> => {
    const runTask = async () => {
      const wasm = idleInstance ?? instantiateEngine(modules.engine);
      idleInstance = null;
      onMemory?.(wasm.memory);
      try {
        return await task(wasm);
      } finally {
        wasm.wipe();
        if (wasm.memory.buffer.byteLength <= maxIdleMemory) idleInstance = wasm;
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
  const codecModule = (name: CodecName): Promise<WebAssembly.Module> => {
    const bundled = modules[name];
    if (bundled !== undefined) return Promise.resolve(bundled);
    if (name === "jpeg" || name === "png" || loadCodec === undefined)
      return Promise.reject(unreadableError("unsupported", name));
    const pending = codecModules.get(name) ?? loadCodec(name);
    codecModules.set(name, pending);
    pending.catch(() => codecModules.delete(name));
    return pending;
  };

  /**
   * Decodes a picture into the engine and gives it to `task` with its size as seen; clears the
   * pixels afterwards.
   */
  const withPicture = async <T>(
    wasm: EngineWasm,
    bytes: Uint8Array,
    pause: EnginePause,
    task: (opened: OpenedPicture) => Promise<T> | T,
  ): Promise<T> => {
    await pause(EnginePhase.decoding, 0, 2);
    const raster = await decodePicture(bytes, codecModule);
    try {
      await pause(EnginePhase.decoding, 1, 2);
      const swapsSides = raster.orientation >= 5;
      const width = swapsSides ? raster.height : raster.width;
      const height = swapsSides ? raster.width : raster.height;
      const loaded = Math.min(width, height) >= minSide;
      if (loaded && !feedPicture(wasm, rowsOf(raster)))
        throw new PortalError("picture_too_large", { details: { width, height } });
      return await task({ raster, width, height, loaded });
    } finally {
      raster.release();
    }
  };

  const inspectPicture = (wasm: EngineWasm, { width, height, loaded }: OpenedPicture): GateReport => {
    if (!loaded) return evaluateGate(width, height, noMeasures);
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
    const { failed } = await selfTest(wasm, raster, sketch, imageSecretBytes, (done, total) =>
      pause(EnginePhase.selfTest, done, total),
    );
    return applySelfTest(gate, failed);
  };

  return {
    inspect: (picture, options) =>
      withEngine((wasm) => {
        const pause = createPause(options);
        return withPicture(wasm, picture, pause, async (opened) => {
          const gate = inspectPicture(wasm, opened);
          if (options?.selfTest !== true || gate.verdict === GateVerdict.refused) return gate;
          wasm.enrol();
          const imageSecretBytes = readImageSecret(wasm);
          try {
            return await runSelfTest(wasm, opened, gate, readSketch(wasm), imageSecretBytes, pause);
          } finally {
            imageSecretBytes.fill(0);
          }
        });
      }),

    enrol: (picture, knownSketches, options) =>
      withEngine((wasm) => {
        requireSketches(knownSketches);
        const pause = createPause(options);
        return withPicture(wasm, picture, pause, async (opened): Promise<EnrolResult> => {
          const gate = inspectPicture(wasm, opened);
          if (!opened.loaded) throw tooPlainError(gate);
          wasm.enrol();
          const sketch = readSketch(wasm);
          const imageSecretBytes = readImageSecret(wasm);
          try {
            const match = await findSketch(wasm, knownSketches, pause, { helper });
            if (match.outcome !== "not_this_picture") {
              const secret = match.outcome === "recovered" ? match.imageSecretBytes : null;
              return {
                gate,
                sketch,
                imageSecretBytes,
                knownPicture: { index: match.index, score: match.score, imageSecretBytes: secret },
              };
            }
            if (gate.verdict === GateVerdict.refused) throw tooPlainError(gate);
            const testedGate = await runSelfTest(wasm, opened, gate, sketch, imageSecretBytes, pause);
            if (testedGate.verdict === GateVerdict.refused) throw tooPlainError(testedGate);
            return { gate: testedGate, sketch, imageSecretBytes, knownPicture: null };
          } catch (error) {
            imageSecretBytes.fill(0);
            throw error;
          }
        });
      }),

    recover: (picture, sketches, options) =>
      withEngine((wasm) => {
        requireSketches(sketches);
        const pause = createPause(options);
        return withPicture(wasm, picture, pause, (opened) => {
          if (!opened.loaded) throw unreadableError("too_small");
          opened.raster.release(); // the engine has what it needs
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
  if (!sketches.every(isSketch))
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
