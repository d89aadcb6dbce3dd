/**
 * The search where the usual one does not reach: around a screenshot, or in a frame that the person
 * has drawn.
 */
import type { RecoverResult, SearchHint } from "./engine.ts";
import type { EngineWasm, Window } from "./engine-wasm.ts";
import { betterFailure, decodeCandidates, readRefined, type Failure } from "./candidates.ts";

const step = 0.0125;
const mostCandidates = 6;
/** Starting windows of one transposition whose sides all differ by less are the same candidate. */
const near = 0.014;
/** Windows between two pauses. */
const slice = 500;

/**
 * Windows to start from. Each is that of enrolment: the middle 88 % of the picture in both
 * directions.
 */
export function windowsFor(hint: SearchHint): Window[] {
  if (hint.kind === "screenshot") return screenshotWindows();
  const { left, right, top, bottom } = hint;
  const across = middle(left, right);
  const down = middle(top, bottom);
  const nudges = [0, -0.01, 0.01];
  return nudges.flatMap((a) =>
    nudges.flatMap((b) =>
      nudges.flatMap((c) => nudges.map((d): Window => [across[0] + a, across[1] + b, down[0] + c, down[1] + d])),
    ),
  );
}

/** One axis up to 45 % from each side, the other as good as whole. */
function screenshotWindows(): Window[] {
  const wide = Array.from({ length: 37 }, (_, i) => i * step);
  const narrow = [0.05, 0.0625];
  const windows: Window[] = [];
  for (const a of wide) {
    for (const b of wide) {
      for (const c of narrow) for (const d of narrow) windows.push([a, 1 - b, c, 1 - d], [c, 1 - d, a, 1 - b]);
    }
  }
  return windows;
}

function middle(from: number, to: number): readonly [number, number] {
  return [from + 0.06 * (to - from), to - 0.06 * (to - from)];
}

interface Start {
  readonly score: number;
  readonly window: Window;
  readonly transposed: boolean;
}

/**
 * Looks for the sketches in the first `count` slots, starting from windows that a hint gives. Ends
 * with the first that decodes.
 */
export async function searchHinted(
  wasm: EngineWasm,
  count: number,
  hint: SearchHint,
  pause: (done: number, total: number) => Promise<void>,
): Promise<RecoverResult> {
  const windows = windowsFor(hint);
  const total = windows.length + count * mostCandidates * slice;
  const starts = Array.from({ length: count }, (): Start[] => []);
  for (const [done, window] of windows.entries()) {
    if (done % slice === 0) await pause(done, total);
    if (wasm.coarseAt(count, ...window) !== 1) continue;
    starts.forEach((list, slot) => {
      const [upright = -1, across = -1] = new Float64Array(wasm.memory.buffer, wasm.coarseScoresAddress(slot), 2);
      list.push({ score: upright, window, transposed: false }, { score: across, window, transposed: true });
    });
  }
  let best: Failure = { outcome: "not_this_picture", score: -1 };
  for (const [slot, list] of starts.entries()) {
    const chosen = distinct(list);
    for (const [index, { window, transposed }] of chosen.entries()) {
      await pause(windows.length + (slot * mostCandidates + index) * slice, total);
      wasm.place(index, ...window, transposed ? 1 : 0);
      wasm.refine(slot, index);
    }
    const result = decodeCandidates(wasm, slot, readRefined(wasm, chosen.length));
    if (result.outcome === "recovered") return result;
    best = betterFailure(best, result);
  }
  return best;
}

/** The best few that are not near each other. */
function distinct(list: Start[]): Start[] {
  list.sort((a, b) => b.score - a.score);
  const chosen: Start[] = [];
  for (const start of list) {
    if (chosen.length === mostCandidates) break;
    const known = chosen.some(
      ({ window, transposed }) =>
        transposed === start.transposed &&
        window.every((side, at) => Math.abs(side - (start.window[at] ?? NaN)) < near),
    );
    if (!known) chosen.push(start);
  }
  return chosen;
}
