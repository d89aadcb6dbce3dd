import { feedPicture, writeSketch, type EngineWasm } from "../engine-wasm.ts";
import type { Sketch } from "../engine.ts";
import type { Raster } from "../rows.ts";
import { findSketch, matchEnrolmentWindow, type Pause } from "../search.ts";
import { createChangedCopy, SelfTestCopy } from "./copies.ts";

/** More errors than this in any copy: the picture has not enough margin (the code mends 68). */
const maxErrors = 40;

export interface SelfTestRow {
  readonly copy: SelfTestCopy;
  /** Null when the copy was not recovered, or only as another secret. */
  readonly errors: number | null;
}

/** Tried for every picture. */
const standardCopies = [
  SelfTestCopy.messenger,
  SelfTestCopy.quarter,
  SelfTestCopy.gamma,
  SelfTestCopy.cropped,
  SelfTestCopy.bright,
  SelfTestCopy.small,
] as const;

/**
 * Changes the picture in six ways and recovers each from its sketch, as later recoveries will;
 * where the smallest copy fails, in a seventh: a larger one, which has to open instead. The engine
 * then holds a copy, no longer the picture. `done` counts copies.
 *
 * @returns `failed`: copies with too many errors, in the order of `rows`.
 */
export async function selfTest(
  wasm: EngineWasm,
  picture: Raster,
  sketch: Sketch,
  imageSecretBytes: Uint8Array,
  pause: (done: number, total: number) => Promise<void>,
): Promise<{ readonly failed: readonly SelfTestCopy[]; readonly rows: readonly SelfTestRow[] }> {
  const rows: SelfTestRow[] = [];
  const copies: SelfTestCopy[] = [...standardCopies];
  for (const copy of copies) {
    const step = () => pause(rows.length, copies.length);
    await step();
    const { rows: pixels, clear } = createChangedCopy(copy, picture);
    try {
      const row = {
        copy,
        errors: feedPicture(wasm, pixels) ? await countErrors(wasm, sketch, imageSecretBytes, step) : null,
      };
      if (copy === SelfTestCopy.small && hasFailed(row)) copies.push(SelfTestCopy.medium);
      rows.push(row);
    } finally {
      clear();
    }
  }
  return { failed: rows.filter(hasFailed).map(({ copy }) => copy), rows };
}

function hasFailed({ errors }: SelfTestRow): boolean {
  return errors === null || errors > maxErrors;
}

/**
 * Errors of the recovery that is best: where the same framing costs too many, those of the full
 * search count.
 */
async function countErrors(
  wasm: EngineWasm,
  sketch: Sketch,
  imageSecretBytes: Uint8Array,
  pause: Pause,
): Promise<number | null> {
  writeSketch(wasm, 0, sketch);
  const direct = matchEnrolmentWindow(wasm, 1);
  const recovery =
    direct !== null && direct.errors <= maxErrors
      ? direct
      : await findSketch(wasm, [sketch], pause, { tryDirect: false });
  const matches = recovery.outcome === "recovered" && sameBytes(recovery.imageSecretBytes, imageSecretBytes);
  for (const result of [direct, recovery]) if (result?.outcome === "recovered") result.imageSecretBytes.fill(0);
  return matches ? recovery.errors : null;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
