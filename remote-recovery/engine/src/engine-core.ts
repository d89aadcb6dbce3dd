/**
 * The engine, built from compiled modules. Runs in a worker or in Node, without network, clock,
 * randomness or DOM. Keeps neither pixels nor bits between calls.
 */
import { PortalError } from "@relicario/shared/errors";
import { raceAbort } from "./abortable-calls.ts";
import { decodePicture, type CodecName, type PictureRaster } from "./decoders/decode.ts";
import { unreadableError } from "./decoders/picture-file.ts";
import { looksDrawn } from "./drawn.ts";
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
import { applyDrawn, applySelfTest, evaluateGate, zeroMeasures } from "./gate.ts";
import { toPictureRows } from "./picture-rows.ts";
import { findSketch, isValidSketch, type Pause } from "./search.ts";
import type { SearchDelegate } from "./search-delegate.ts";
import { testChangedCopies } from "./self-test/self-test.ts";

export type EngineModules = { readonly engine: WebAssembly.Module } & Readonly<
  Record<"jpeg" | "png", WebAssembly.Module>
> &
  Partial<Readonly<Record<LazyCodec, WebAssembly.Module>>>;
export type LazyCodec = Exclude<CodecName, "jpeg" | "png">;

export interface EngineCoreOptions {
  /**
   * Fetches and compiles a codec. Its PortalErrors reject the call. Without this function, pictures
   * of other kinds than JPEG and PNG are `unsupported`.
   */
  readonly loadCodec?: ((name: LazyCodec) => Promise<WebAssembly.Module>) | undefined;
  /** Runs half of each search on another core. */
  readonly delegate?: SearchDelegate | null;
  /** For tests: receives the memory of each instance that the engine uses. */
  readonly onMemory?: (memory: WebAssembly.Memory) => void;
}

/** Instances with more memory are dropped after a call, not kept. */
const maxIdleMemoryBytes = 64 * 1024 * 1024;
const minMeasurableSide = 64;

/** Creates an engine. Its calls run one after another. */
export function createEngineCore(
  modules: EngineModules,
  { loadCodec, delegate = null, onMemory }: EngineCoreOptions = {},
): Engine {
  let idleInstance: EngineWasm | null = null;
  let lastCall: Promise<unknown> = Promise.resolve();

  /** Runs `callback` after all earlier calls, then wipes the instance. */
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

  const pendingCodecModules = new Map<CodecName, Promise<WebAssembly.Module>>();
  /** Loads a codec's module once. Drops a failed load, so that the next picture tries again. */
  const getCodecModule = (name: CodecName): Promise<WebAssembly.Module> => {
    const bundledModule = modules[name];
    if (bundledModule !== undefined) return Promise.resolve(bundledModule);
    if (name === "jpeg" || name === "png" || loadCodec === undefined)
      return Promise.reject(unreadableError("unsupported", name));
    const pendingModule = pendingCodecModules.get(name) ?? loadCodec(name);
    pendingCodecModules.set(name, pendingModule);
    pendingModule.catch(() => pendingCodecModules.delete(name));
    return pendingModule;
  };

  /** Decodes a picture into the engine, runs `callback`, then clears the pixels. */
  const withPicture = async <T>(
    wasm: EngineWasm,
    bytes: Uint8Array,
    pause: EnginePause,
    signal: AbortSignal | undefined,
    callback: (opened: OpenedPicture) => Promise<T> | T,
  ): Promise<T> => {
    await pause(EnginePhase.decoding, 0, 2);
    const raster = await decodePicture(bytes, (name) => raceAbort(signal, getCodecModule(name)));
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

  const inspectPicture = (wasm: EngineWasm, { raster, width, height, loaded }: OpenedPicture): GateReport => {
    if (!loaded) return evaluateGate(width, height, zeroMeasures);
    wasm.analyseWindow(...enrolmentWindow);
    wasm.measureGate();
    const gate = evaluateGate(width, height, readMeasures(wasm));
    return looksDrawn(raster) ? applyDrawn(gate) : gate;
  };

  const runSelfTest = async (
    wasm: EngineWasm,
    { raster }: OpenedPicture,
    gate: GateReport,
    sketch: Sketch,
    imageSecretBytes: Uint8Array,
    pause: EnginePause,
  ): Promise<GateReport> => {
    const { failedCopies } = await testChangedCopies(wasm, raster, sketch, imageSecretBytes, (done, total) =>
      pause(EnginePhase.selfTest, done, total),
    );
    return applySelfTest(gate, failedCopies);
  };

  return {
    inspect: (picture, options) =>
      withInstance((wasm) => {
        const pause = createPause(options);
        return withPicture(wasm, picture, pause, options?.signal, async (openedPicture) => {
          const gate = inspectPicture(wasm, openedPicture);
          if (options?.selfTest !== true) return gate;
          requireSound(openedPicture);
          if (gate.verdict === GateVerdict.refused) return gate;
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
        return withPicture(wasm, picture, pause, options?.signal, async (openedPicture): Promise<EnrolResult> => {
          const gate = inspectPicture(wasm, openedPicture);
          if (!openedPicture.loaded) throw tooPlainError(gate);
          wasm.enrol();
          const sketch = readSketch(wasm);
          const imageSecretBytes = readImageSecret(wasm);
          try {
            const knownMatch = await findSketch(wasm, knownSketches, pause, { delegate });
            if (knownMatch.outcome !== "recovered") requireSound(openedPicture);
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
        return withPicture(wasm, picture, pause, options?.signal, async (openedPicture) => {
          if (!openedPicture.loaded) throw unreadableError("too_small");
          openedPicture.raster.release(); // a search needs only the area table
          const result = await findSketch(wasm, sketches, pause, { hint: options?.hint, delegate });
          if (result.outcome !== "recovered") requireSound(openedPicture);
          return result;
        });
      }),
  };
}

/**
 * A decoded picture. `loaded` is false if a side is under 64 pixels; the engine then holds no
 * picture. Width and height are after orientation.
 */
interface OpenedPicture {
  readonly raster: PictureRaster;
  readonly width: number;
  readonly height: number;
  readonly loaded: boolean;
}

function requireSketches(sketches: readonly Sketch[]): void {
  if (!sketches.every(isValidSketch))
    throw new TypeError("a sketch needs 256 bytes of choice and 86 of syndrome, with unused bits 0");
}

/** Throws the damage of the file, if any, since an intact copy may decode differently. */
function requireSound({ raster: { damage } }: OpenedPicture): void {
  if (damage !== null) throw damage;
}

function tooPlainError({ refusalReasons, width, height }: GateReport): PortalError {
  return new PortalError("picture_too_plain", { details: { reasons: refusalReasons, width, height } });
}

type EnginePause = (phase: EnginePhase, done: number, total: number) => Promise<void>;

/** Reports progress, lets pending messages arrive, and rejects if the signal is aborted. */
function createPause(options: EngineOptions | undefined): EnginePause & Pause {
  return async (phase, done, total) => {
    options?.onProgress?.({ phase, done, total });
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    if (options?.signal?.aborted === true) throw new PortalError("cancelled", { cause: options.signal.reason });
  };
}
