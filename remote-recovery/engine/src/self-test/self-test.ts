import { feedPicture, writeSketch, type EngineWasm } from "../engine-wasm.ts";
import type { Sketch } from "../engine.ts";
import type { Raster } from "../rows.ts";
import { findSketch, lookStraight, type Pause } from "../search.ts";
import { changedCopy, SelfTestCopy } from "./copies.ts";

/** More errors than this in any copy: the picture has not enough margin (the code mends 68). */
const mostErrors = 40;

export interface SelfTestRow {
  readonly copy: SelfTestCopy;
  /** Null when the copy was not recovered, or only as another secret. */
  readonly errors: number | null;
}

/**
 * Changes the picture in six ways and recovers each from its sketch, as later recoveries will. The engine then holds a
 * copy, no longer the picture. `done` counts copies.
 */
export async function selfTest(
  wasm: EngineWasm,
  picture: Raster,
  sketch: Sketch,
  imageSecretBytes: Uint8Array,
  pause: (done: number, total: number) => Promise<void>,
): Promise<{ readonly passed: boolean; readonly rows: readonly SelfTestRow[] }> {
  const rows: SelfTestRow[] = [];
  const copies = Object.values(SelfTestCopy);
  for (const [done, copy] of copies.entries()) {
    const step = () => pause(done, copies.length);
    await step();
    const { rows: pixels, clear } = changedCopy(copy, picture);
    try {
      rows.push({ copy, errors: feedPicture(wasm, pixels) ? await errorsIn(wasm, sketch, imageSecretBytes, step) : null });
    } finally {
      clear();
    }
  }
  return { passed: rows.every(({ errors }) => errors !== null && errors <= mostErrors), rows };
}

/** Errors of the recovery that is best: where the same framing costs too many, those of the full search count. */
async function errorsIn(wasm: EngineWasm, sketch: Sketch, imageSecretBytes: Uint8Array, pause: Pause): Promise<number | null> {
  writeSketch(wasm, 0, sketch);
  const straight = lookStraight(wasm, 1);
  const found = straight !== null && straight.errors <= mostErrors ? straight : await findSketch(wasm, [sketch], pause, { straight: false });
  const same = found.outcome === "recovered" && sameBytes(found.imageSecretBytes, imageSecretBytes);
  for (const result of [straight, found]) if (result?.outcome === "recovered") result.imageSecretBytes.fill(0);
  return same ? found.errors : null;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((value, at) => value === b[at]);
}
