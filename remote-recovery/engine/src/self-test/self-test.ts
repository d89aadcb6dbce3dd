import { feedPicture, writeSketch, type EngineWasm } from "../engine-wasm.ts";
import type { Sketch } from "../engine.ts";
import { hasTransparency, type Raster } from "../picture-rows.ts";
import { findSketch, matchEnrolmentWindow, type Pause } from "../search.ts";
import { createChangedCopy, SelfTestCopy } from "./copies.ts";

/** Limit of errors in a copy. The code corrects 68; the rest is margin. */
const maxErrors = 40;

export interface SelfTestResult {
  readonly copy: SelfTestCopy;
  /** Null if the copy did not recover or gave another secret. */
  readonly errors: number | null;
}

/** Tried for every picture. A transparent picture also gets a copy on black. */
const standardCopies = [
  SelfTestCopy.messenger,
  SelfTestCopy.quarter,
  SelfTestCopy.gamma,
  SelfTestCopy.cropped,
  SelfTestCopy.bright,
  SelfTestCopy.small,
] as const;

/**
 * Changes the picture in six or seven ways and recovers each copy from the sketch. If the small
 * copy fails, also tries a medium copy. Afterwards the engine holds a copy instead of the picture.
 *
 * @param pause receives the number of finished copies
 * @returns `failedCopies`: copies with too many errors, in the order of `results`
 */
export async function testChangedCopies(
  wasm: EngineWasm,
  picture: Raster,
  sketch: Sketch,
  imageSecretBytes: Uint8Array,
  pause: (done: number, total: number) => Promise<void>,
): Promise<{ readonly failedCopies: readonly SelfTestCopy[]; readonly results: readonly SelfTestResult[] }> {
  const results: SelfTestResult[] = [];
  const copies: SelfTestCopy[] = [...standardCopies, ...(hasTransparency(picture) ? [SelfTestCopy.onBlack] : [])];
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
  return { failedCopies: results.filter(hasFailed).map(({ copy }) => copy), results };
}

function hasFailed({ errors }: SelfTestResult): boolean {
  return errors === null || errors > maxErrors;
}

/**
 * Number of errors in the enrolment window or, if that has too many, of the full search. Null if
 * the copy does not recover or gives another secret.
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
      : await findSketch(wasm, [sketch], pause, { tryEnrolmentFraming: false });
  const matches = recovery.outcome === "recovered" && sameBytes(recovery.imageSecretBytes, imageSecretBytes);
  for (const attempt of [directMatch, recovery]) if (attempt?.outcome === "recovered") attempt.imageSecretBytes.fill(0);
  return matches ? recovery.errors : null;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
