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
export interface SearchDelegate {
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
      if (!isLoaded) throw new TypeError("this is no area table of that size");
      sketches.forEach((sketch, slot) => {
        writeSketch(ensureInstance(), slot, sketch);
      });
      if (ensureInstance().runCoarsePass(sketches.length, from, to) !== 1) throw new RangeError("no such windows");
      return readCoarseScores(ensureInstance(), sketches.length, from, to);
    },
    refine: async (slot, candidates) =>
      candidates.map(({ window, transposed, start, coarseScore }) => {
        if (ensureInstance().setCandidate(0, ...window, transposed ? 1 : 0) !== 1)
          throw new RangeError("no such window");
        ensureInstance().refine(slot, 0);
        return { ...readCandidate(ensureInstance(), 0), start, coarseScore };
      }),
    wipe: async () => {
      wasm?.wipe();
    },
  };
}

/** What the second worker offers over Comlink. */
export interface SearchWorkerApi extends SearchDelegate {
  readonly init: (module: WebAssembly.Module) => void;
}

/** The service of the second worker; calls made before `init` reject. */
export function createSearchWorkerApi(): SearchWorkerApi {
  let delegate: SearchDelegate | null = null;
  const requireDelegate = () => {
    if (delegate === null) throw new TypeError("not started");
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

/**
 * The helper behind a worker or port. `failed` settles when that worker has failed: what was asked
 * of it rejects then.
 */
export function wrapSearchDelegate(
  remote: Comlink.Remote<SearchWorkerApi>,
  module: WebAssembly.Module,
  failed: Promise<unknown>,
): SearchDelegate {
  const { abortable, abort } = createAbortableCalls();
  void failed.then(() => {
    abort(new PortalError("unknown")); // whoever asked does the work itself
  });
  const initialized = abortable(remote.init(module));
  initialized.catch(() => undefined); // each call says so
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
