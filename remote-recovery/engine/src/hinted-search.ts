/**
 * Searches where the usual search finds nothing: in a screenshot, or in a frame that the person
 * drew.
 */
import type { RecoverResult, SearchHint } from "./engine.ts";
import type { EngineWasm, SearchWindow } from "./engine-wasm.ts";
import { chooseBetterFailure, decodeCandidates, readRankedCandidates, type FailedRecovery } from "./candidates.ts";

const windowStep = 0.0125;
const maxCandidates = 6;
/**
 * Two start windows of one transposition are the same candidate if all their sides differ by less.
 */
const minSideDistance = 0.014;
const windowsPerPause = 500;

/**
 * Start windows. Like the enrolment window, each is the middle 88 % of a supposed picture in both
 * directions.
 */
function listHintedWindows(hint: SearchHint): SearchWindow[] {
  if (hint.kind === "screenshot") return listScreenshotWindows();
  const { left, right, top, bottom } = hint;
  const horizontal = computeEnrolmentRange(left, right);
  const vertical = computeEnrolmentRange(top, bottom);
  const offsets = [0, -0.01, 0.01];
  return offsets.flatMap((a) =>
    offsets.flatMap((b) =>
      offsets.flatMap((c) =>
        offsets.map((d): SearchWindow => [horizontal[0] + a, horizontal[1] + b, vertical[0] + c, vertical[1] + d]),
      ),
    ),
  );
}

/**
 * Windows with insets of up to 45 % along one axis, and about those of the enrolment window along
 * the other.
 */
function listScreenshotWindows(): SearchWindow[] {
  const wideInsets = Array.from({ length: 37 }, (_, i) => i * windowStep);
  const narrowInsets = [0.05, 0.0625];
  const windows: SearchWindow[] = [];
  for (const a of wideInsets) {
    for (const b of wideInsets) {
      for (const c of narrowInsets)
        for (const d of narrowInsets) windows.push([a, 1 - b, c, 1 - d], [c, 1 - d, a, 1 - b]);
    }
  }
  return windows;
}

function computeEnrolmentRange(from: number, to: number): readonly [number, number] {
  return [from + 0.06 * (to - from), to - 0.06 * (to - from)];
}

interface StartWindow {
  readonly score: number;
  readonly window: SearchWindow;
  readonly transposed: boolean;
}

/**
 * Searches for the sketches in the first `count` slots, from the windows of a hint. Stops at the
 * first sketch that decodes.
 */
export async function searchHinted(
  wasm: EngineWasm,
  count: number,
  hint: SearchHint,
  pause: (done: number, total: number) => Promise<void>,
): Promise<RecoverResult> {
  const windows = listHintedWindows(hint);
  const total = windows.length + count * maxCandidates * windowsPerPause;
  const startWindowsBySlot = Array.from({ length: count }, (): StartWindow[] => []);
  for (const [done, window] of windows.entries()) {
    if (done % windowsPerPause === 0) await pause(done, total);
    if (wasm.scoreCoarseWindow(count, ...window) !== 1) continue;
    startWindowsBySlot.forEach((startWindows, slot) => {
      const [uprightScore = -1, transposedScore = -1] = new Float64Array(
        wasm.memory.buffer,
        wasm.coarseScoresAddress(slot),
        2,
      );
      startWindows.push(
        { score: uprightScore, window, transposed: false },
        { score: transposedScore, window, transposed: true },
      );
    });
  }
  let bestFailure: FailedRecovery = { outcome: "not_this_picture", score: -1 };
  for (const [slot, startWindows] of startWindowsBySlot.entries()) {
    const distinctWindows = selectDistinct(startWindows);
    for (const [index, { window, transposed }] of distinctWindows.entries()) {
      await pause(windows.length + (slot * maxCandidates + index) * windowsPerPause, total);
      wasm.setCandidate(index, ...window, transposed ? 1 : 0);
      wasm.refine(slot, index);
    }
    const result = decodeCandidates(wasm, slot, readRankedCandidates(wasm, distinctWindows.length));
    if (result.outcome === "recovered") return result;
    bestFailure = chooseBetterFailure(bestFailure, result);
  }
  return bestFailure;
}

/** The best start windows, without any that are near a better one. */
function selectDistinct(startWindows: StartWindow[]): StartWindow[] {
  startWindows.sort((a, b) => b.score - a.score);
  const selected: StartWindow[] = [];
  for (const startWindow of startWindows) {
    if (selected.length === maxCandidates) break;
    const isDuplicate = selected.some(
      ({ window, transposed }) =>
        transposed === startWindow.transposed &&
        window.every((side, index) => Math.abs(side - (startWindow.window[index] ?? NaN)) < minSideDistance),
    );
    if (!isDuplicate) selected.push(startWindow);
  }
  return selected;
}
