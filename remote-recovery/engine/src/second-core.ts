/**
 * A search on two cores: half of the coarse windows and half of the candidates are scored by
 * another instance, in a worker of its own.
 */
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import type { Sketch } from "./engine.ts";
import {
  readCoarseScores,
  instantiateEngine,
  readCandidate,
  loadAreaTable,
  writeSketch,
  type Candidate,
  type EngineWasm,
  type AreaTable,
} from "./engine-wasm.ts";
import { createAbortableCalls } from "./abortable-calls.ts";

/**
 * Answers in the order of its calls. Every member may reject; the caller then does the work itself.
 */
export interface SearchHelper {
  /**
   * Takes a picture, whose `sums` are transferred, and sketches for the first slots; scores windows
   * from … to − 1 of the coarse pass.
   */
  readonly scoreCoarseWindows: (
    table: AreaTable,
    sketches: readonly Sketch[],
    from: number,
    to: number,
  ) => Promise<Float64Array<ArrayBuffer>[]>;
  /** Refines candidates of a sketch, as many as there are places for. */
  readonly refine: (slot: number, candidates: readonly Candidate[]) => Promise<Candidate[]>;
  /** Forgets the picture and the sketches. */
  readonly wipe: () => Promise<void>;
}

/** The helper itself, over an instance of its own. */
export function createSearchHelper(
  module: WebAssembly.Module,
  onMemory?: (memory: WebAssembly.Memory) => void,
): SearchHelper {
  let wasm: EngineWasm | null = null;
  const getInstance = () => {
    if (wasm === null) {
      wasm = instantiateEngine(module);
      onMemory?.(wasm.memory);
    }
    return wasm;
  };
  return {
    scoreCoarseWindows: async (table, sketches, from, to) => {
      const loaded = loadAreaTable(getInstance(), table);
      table.sums.fill(0);
      if (!loaded) throw new TypeError("this is no area table of that size");
      sketches.forEach((sketch, slot) => {
        writeSketch(getInstance(), slot, sketch);
      });
      if (getInstance().runCoarsePass(sketches.length, from, to) !== 1) throw new RangeError("no such windows");
      return readCoarseScores(getInstance(), sketches.length, from, to);
    },
    refine: async (slot, candidates) =>
      candidates.map(({ window, transposed, start, coarseScore }) => {
        if (getInstance().setCandidate(0, ...window, transposed ? 1 : 0) !== 1) throw new RangeError("no such window");
        getInstance().refine(slot, 0);
        return { ...readCandidate(getInstance(), 0), start, coarseScore };
      }),
    wipe: async () => {
      wasm?.wipe();
    },
  };
}

/** What the second worker offers over Comlink. */
export interface SearchWorkerApi extends SearchHelper {
  readonly init: (module: WebAssembly.Module) => void;
}

/** The service of the second worker; calls made before `init` reject. */
export function createSearchWorkerApi(): SearchWorkerApi {
  let helper: SearchHelper | null = null;
  const requireHelper = () => {
    if (helper === null) throw new TypeError("not started");
    return helper;
  };
  return {
    init: (module) => {
      helper = createSearchHelper(module);
    },
    scoreCoarseWindows: async (...args) => {
      const scores = await requireHelper().scoreCoarseWindows(...args);
      return Comlink.transfer(
        scores,
        scores.map(({ buffer }) => buffer),
      );
    },
    refine: async (...args) => requireHelper().refine(...args),
    wipe: async () => requireHelper().wipe(),
  };
}

/**
 * The helper behind a worker or port. `failed` settles when that worker has failed: what was asked
 * of it rejects then.
 */
export function wrapSearchHelper(
  remote: Comlink.Remote<SearchWorkerApi>,
  module: WebAssembly.Module,
  failed: Promise<unknown>,
): SearchHelper {
  const { abortable, abort } = createAbortableCalls();
  void failed.then(() => {
    abort(new PortalError("unknown")); // whoever asked does the work itself
  });
  const started = abortable(remote.init(module));
  started.catch(() => undefined); // each call says so
  return {
    scoreCoarseWindows: async (table, sketches, from, to) => {
      await started;
      return abortable(remote.scoreCoarseWindows(Comlink.transfer(table, [table.sums.buffer]), sketches, from, to));
    },
    refine: async (slot, candidates) => abortable(remote.refine(slot, candidates)),
    wipe: async () => {
      await started;
      return abortable(remote.wipe());
    },
  };
}
