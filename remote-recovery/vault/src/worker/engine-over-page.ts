import type { Engine } from "@relicario/engine";
import * as Comlink from "comlink";

import { refuseCancelled } from "../cancelled.ts";
import { copyOf } from "../seal/bytes.ts";

/**
 * An engine that is started at its first call. A picture crosses as a copy that is moved, not
 * cloned: what the engine is given it overwrites, and nothing of it stays in between.
 *
 * @param start asks the page, before each call: an engine that failed is started anew
 */
export function engineOverPage(start: () => Promise<void>, engine: Engine): Engine {
  async function ready(signal: AbortSignal | undefined): Promise<Engine> {
    await start();
    refuseCancelled(signal);
    return engine;
  }
  return {
    inspect: async (picture, options) => (await ready(options?.signal)).inspect(moved(picture), options),
    enrol: async (picture, known, options) => (await ready(options?.signal)).enrol(moved(picture), known, options),
    recover: async (picture, sketches, options) =>
      (await ready(options?.signal)).recover(moved(picture), sketches, options),
  };
}

function moved(picture: Uint8Array): Uint8Array {
  const copy = copyOf(picture);
  return Comlink.transfer(copy, [copy.buffer]);
}
