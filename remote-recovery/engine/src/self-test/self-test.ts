import { feedPicture, writeSketch, type EngineWasm } from "../engine-wasm.ts";
import type { Sketch } from "../engine.ts";
import type { Raster } from "../rows.ts";
import { findSketch, matchEnrolmentWindow, type Pause } from "../search.ts";
import { createChangedCopy, SelfTestCopy } from "./copies.ts";

/** More errors than this in any copy: the picture has not enough margin (the code mends 68). */
const maxErrors = 40;

export interface SelfTestResult {
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
export async function testChangedCopies(
  wasm: EngineWasm,
  picture: Raster,
  sketch: Sketch,
  imageSecretBytes: Uint8Array,
  pause: (done: number, total: number) => Promise<void>,
): Promise<{ readonly failed: readonly SelfTestCopy[]; readonly rows: readonly SelfTestResult[] }> {
  const results: SelfTestResult[] = [];
  const copies: SelfTestCopy[] = [...standardCopies];
  for (const copy of copies) {
    const reportStep = () => pause(results.length, copies.length);
    await reportStep();
    const { rows: pixels, clear } = createChangedCopy(copy, picture);
    try {
      const result = {
        copy,
        errors: feedPicture(wasm, pixels) ? await countErrors(wasm, sketch, imageSecretBytes, reportStep) : null,
      };
      if (copy === SelfTestCopy.small && hasFailed(result)) copies.push(SelfTestCopy.medium);
      results.push(result);
    } finally {
      clear();
    }
  }
  return { failed: results.filter(hasFailed).map(({ copy }) => copy), rows: results };
}

function hasFailed({ errors }: SelfTestResult): boolean {
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
  const directMatch = matchEnrolmentWindow(wasm, 1);
  const recovery =
    directMatch !== null && directMatch.errors <= maxErrors
      ? directMatch
      : await findSketch(wasm, [sketch], pause, { tryDirect: false });
  const matches = recovery.outcome === "recovered" && sameBytes(recovery.imageSecretBytes, imageSecretBytes);
  for (const recoveryResult of [directMatch, recovery])
    if (recoveryResult?.outcome === "recovered") recoveryResult.imageSecretBytes.fill(0);
  return matches ? recovery.errors : null;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
