import type { Engine } from "@relicario/engine";
import * as Comlink from "comlink";

import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import { copyOf } from "../seal/bytes.ts";

/**
 * An engine that is started at its first call. A picture crosses as a copy that is moved, not
 * cloned: what the engine is given it overwrites, and nothing of it stays in between.
 *
 * @param start asks the page, before each call: an engine that failed is started anew
 */
export function createLazyEngine(start: () => Promise<void>, engine: Engine): Engine {
  async function ensureStarted(signal: AbortSignal | undefined): Promise<Engine> {
    await start();
    throwIfCancelled(signal);
    return engine;
  }
  return {
    inspect: async (picture, options) =>
      (await ensureStarted(options?.signal)).inspect(copyForTransfer(picture), options),
    enrol: async (picture, known, options) =>
      (await ensureStarted(options?.signal)).enrol(copyForTransfer(picture), known, options),
    recover: async (picture, sketches, options) =>
      (await ensureStarted(options?.signal)).recover(copyForTransfer(picture), sketches, options),
  };
}

function copyForTransfer(picture: Uint8Array): Uint8Array {
  const copy = copyOf(picture);
  return Comlink.transfer(copy, [copy.buffer]);
}
