/**
 * A search on two cores: half of the coarse windows and half of the candidates are scored by
 * another instance, in a worker of its own.
 */
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import type { Sketch } from "./engine.ts";
import {
  coarseScoresIn,
  instantiateEngine,
  readCandidate,
  takeTable,
  writeSketch,
  type Candidate,
  type EngineWasm,
  type PictureTable,
} from "./engine-wasm.ts";
import { createGone } from "./worker-gone.ts";

/**
 * Answers in the order of its calls. Every member may reject; the caller then does the work itself.
 */
export interface SearchHelper {
  /**
   * Takes a picture, whose `sums` are transferred, and sketches for the first slots; scores windows
   * from … to − 1 of the coarse pass.
   */
  readonly coarse: (
    table: PictureTable,
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
  const instance = () => {
    if (wasm === null) {
      wasm = instantiateEngine(module);
      onMemory?.(wasm.memory);
    }
    return wasm;
  };
  return {
    coarse: async (table, sketches, from, to) => {
      const taken = takeTable(instance(), table);
      table.sums.fill(0);
      if (!taken) throw new TypeError("this is no area table of that size");
      sketches.forEach((sketch, slot) => {
        writeSketch(instance(), slot, sketch);
      });
      if (instance().coarse(sketches.length, from, to) !== 1) throw new RangeError("no such windows");
      return coarseScoresIn(instance(), sketches.length, from, to);
    },
    refine: async (slot, candidates) =>
      candidates.map(({ window, transposed, start, coarseScore }) => {
        if (instance().place(0, ...window, transposed ? 1 : 0) !== 1) throw new RangeError("no such window");
        instance().refine(slot, 0);
        return { ...readCandidate(instance(), 0), start, coarseScore };
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
  const ready = () => {
    if (helper === null) throw new TypeError("not started");
    return helper;
  };
  return {
    init: (module) => {
      helper = createSearchHelper(module);
    },
    coarse: async (...call) => {
      const scores = await ready().coarse(...call);
      return Comlink.transfer(
        scores,
        scores.map(({ buffer }) => buffer),
      );
    },
    refine: async (...call) => ready().refine(...call),
    wipe: async () => ready().wipe(),
  };
}

/**
 * The helper behind a worker or port. `lost` settles when that worker has failed: what was asked of
 * it rejects then.
 */
export function searchHelperOver(
  remote: Comlink.Remote<SearchWorkerApi>,
  module: WebAssembly.Module,
  lost: Promise<unknown>,
): SearchHelper {
  const { orGone, say } = createGone();
  void lost.then(() => {
    say(new PortalError("unknown")); // whoever asked does the work itself
  });
  const started = orGone(remote.init(module));
  started.catch(() => undefined); // each call says so
  return {
    coarse: async (table, sketches, from, to) => {
      await started;
      return orGone(remote.coarse(Comlink.transfer(table, [table.sums.buffer]), sketches, from, to));
    },
    refine: async (slot, candidates) => orGone(remote.refine(slot, candidates)),
    wipe: async () => {
      await started;
      return orGone(remote.wipe());
    },
  };
}
