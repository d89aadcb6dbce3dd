import type { Engine } from "@relicario/engine";
import { raceAbort } from "@relicario/engine/abortable-calls";
import * as Comlink from "comlink";

import { copyOf } from "../seal/bytes.ts";

/**
 * Starts the engine at the first call. A picture is copied and the copy transferred, not cloned, so
 * that the engine overwrites the only other copy.
 *
 * @param start calls the page before each engine call; restarts a failed engine
 */
export function createLazyEngine(start: () => Promise<void>, engine: Engine): Engine {
  async function ensureStarted(signal: AbortSignal | undefined): Promise<Engine> {
    await raceAbort(signal, start());
    return engine;
  }
  return {
    inspect: async (pictureBytes, options) =>
      (await ensureStarted(options?.signal)).inspect(copyForTransfer(pictureBytes), options),
    enrol: async (pictureBytes, knownSketches, options) =>
      (await ensureStarted(options?.signal)).enrol(copyForTransfer(pictureBytes), knownSketches, options),
    recover: async (pictureBytes, sketches, options) =>
      (await ensureStarted(options?.signal)).recover(copyForTransfer(pictureBytes), sketches, options),
  };
}

function copyForTransfer(pictureBytes: Uint8Array): Uint8Array {
  const copy = copyOf(pictureBytes);
  return Comlink.transfer(copy, [copy.buffer]);
}
