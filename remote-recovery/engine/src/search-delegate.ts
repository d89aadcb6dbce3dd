/**
 * Splits a search between two cores: an instance in another worker scores half of the coarse
 * windows and refines half of the candidates.
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

/** Runs its calls in order. Any call may reject; the caller then does the work itself. */
export interface SearchDelegate {
  /**
   * Loads a picture, whose `sums` are transferred, and writes sketches to the first slots. Returns
   * the scores of coarse windows `from` … `to` − 1.
   */
  readonly scoreCoarseWindows: (
    table: AreaTable,
    sketches: readonly Sketch[],
    from: number,
    to: number,
  ) => Promise<Float64Array<ArrayBuffer>[]>;
  readonly refine: (slot: number, candidates: readonly Candidate[]) => Promise<Candidate[]>;
  readonly wipe: () => Promise<void>;
}

export function createSearchDelegate(
  module: WebAssembly.Module,
  onMemory?: (memory: WebAssembly.Memory) => void,
): SearchDelegate {
  let wasm: EngineWasm | null = null;
  const ensureInstance = () => {
    if (wasm === null) {
      wasm = instantiateEngine(module);
      onMemory?.(wasm.memory);
    }
    return wasm;
  };
  return {
    scoreCoarseWindows: async (table, sketches, from, to) => {
      const isLoaded = loadAreaTable(ensureInstance(), table);
      table.sums.fill(0);
      if (!isLoaded) throw new TypeError("the area table does not match the size of the picture");
      sketches.forEach((sketch, slot) => {
        writeSketch(ensureInstance(), slot, sketch);
      });
      if (ensureInstance().runCoarsePass(sketches.length, from, to) !== 1)
        throw new RangeError("the coarse windows are out of range");
      return readCoarseScores(ensureInstance(), sketches.length, from, to);
    },
    refine: async (slot, candidates) =>
      candidates.map(({ window, transposed, startWindowIndex, coarseScore }) => {
        if (ensureInstance().setCandidate(0, ...window, transposed ? 1 : 0) !== 1)
          throw new RangeError("the candidate's window is invalid");
        ensureInstance().refine(slot, 0);
        return { ...readCandidate(ensureInstance(), 0), startWindowIndex, coarseScore };
      }),
    wipe: async () => {
      wasm?.wipe();
    },
  };
}

export interface SearchWorkerApi extends SearchDelegate {
  readonly init: (module: WebAssembly.Module) => void;
}

/** Calls made before `init` reject. */
export function createSearchWorkerApi(): SearchWorkerApi {
  let delegate: SearchDelegate | null = null;
  const requireDelegate = () => {
    if (delegate === null) throw new TypeError("call init first");
    return delegate;
  };
  return {
    init: (module) => {
      delegate = createSearchDelegate(module);
    },
    scoreCoarseWindows: async (...args) => {
      const scores = await requireDelegate().scoreCoarseWindows(...args);
      return Comlink.transfer(
        scores,
        scores.map(({ buffer }) => buffer),
      );
    },
    refine: async (...args) => requireDelegate().refine(...args),
    wipe: async () => requireDelegate().wipe(),
  };
}

/** A search delegate in a worker or behind a port. Its calls reject once `failure` resolves. */
export function wrapSearchDelegate(
  remote: Comlink.Remote<SearchWorkerApi>,
  module: WebAssembly.Module,
  failure: Promise<unknown>,
): SearchDelegate {
  const { abortable, abort } = createAbortableCalls();
  void failure.then(() => {
    abort(new PortalError("unknown")); // the caller then does the work itself
  });
  const initialized = abortable(remote.init(module));
  initialized.catch(() => undefined); // later calls reject with the same error
  return {
    scoreCoarseWindows: async (table, sketches, from, to) => {
      await initialized;
      return abortable(remote.scoreCoarseWindows(Comlink.transfer(table, [table.sums.buffer]), sketches, from, to));
    },
    refine: async (slot, candidates) => abortable(remote.refine(slot, candidates)),
    wipe: async () => {
      await initialized;
      return abortable(remote.wipe());
    },
  };
}
