/**
 * Searches for sketches in the loaded picture: first with the framing of enrolment, then blindly.
 */
import {
  minBeaconScore,
  chooseBetterFailure,
  decodeCandidates,
  decodeInWindow,
  type FailedRecovery,
  type SuccessfulRecovery,
} from "./candidates.ts";
import { searchHinted } from "./hinted-search.ts";
import { byteLengths, type RecoverResult, type SearchHint, type Sketch } from "./engine.ts";
import {
  copyAreaTable,
  enrolmentWindow,
  readCandidate,
  writeCoarseScores,
  writeSketch,
  type Candidate,
  type EngineWasm,
} from "./engine-wasm.ts";
import type { SearchDelegate } from "./search-delegate.ts";

/**
 * Slices of the coarse pass, with a pause before each. No slice splits the 36 windows that share
 * left and right sides.
 */
const coarseSliceCount = 6;

/**
 * Reports progress and lets pending messages arrive, such as a cancellation. Rejects with
 * `cancelled`.
 */
export type Pause = (phase: "straight" | "searching", done: number, total: number) => Promise<void>;

export interface SearchOptions {
  /** Whether to try the framing of enrolment first. Default: true. */
  readonly tryEnrolmentFraming?: boolean;
  readonly hint?: SearchHint | undefined;
  /** Does half of the work on another core. */
  readonly delegate?: SearchDelegate | null;
}

/**
 * Searches for the sketches until one decodes; otherwise returns the best failure. The caller must
 * check the sizes of the sketches.
 */
export async function findSketch(
  wasm: EngineWasm,
  sketches: readonly Sketch[],
  pause: Pause,
  { tryEnrolmentFraming = true, hint, delegate = null }: SearchOptions = {},
): Promise<RecoverResult> {
  let bestFailure: FailedRecovery = { outcome: "not_this_picture", score: -1 };
  const slots = wasm.sketchSlots.value;
  for (let start = 0; tryEnrolmentFraming && start < sketches.length; start += slots) {
    const batch = sketches.slice(start, start + slots);
    batch.forEach((sketch, slot) => {
      writeSketch(wasm, slot, sketch);
    });
    await pause("straight", start, sketches.length);
    const directMatch = matchEnrolmentWindow(wasm, batch.length);
    if (directMatch !== null) return { ...directMatch, index: start + directMatch.index };
  }
  for (let start = 0; start < sketches.length; start += slots) {
    const batch = sketches.slice(start, start + slots);
    batch.forEach((sketch, slot) => {
      writeSketch(wasm, slot, sketch);
    });
    const total = sketches.length;
    const fraction = batch.length / total;
    const result =
      hint === undefined
        ? await searchBatch(wasm, batch, delegate, (done) => pause("searching", start * 7 + done, total * 7))
        : await searchHinted(wasm, batch.length, hint, (done, steps) =>
            pause("searching", start / total + (done / steps) * fraction, 1),
          );
    if (result.outcome === "recovered") return { ...result, index: start + result.index };
    bestFailure = chooseBetterFailure(
      bestFailure,
      result.outcome === "too_many_errors" ? { ...result, index: start + result.index } : result,
    );
  }
  return bestFailure;
}

/** Tries the enrolment window, in all eight orientations. */
export function matchEnrolmentWindow(wasm: EngineWasm, count: number): SuccessfulRecovery | null {
  if (wasm.analyseWindow(...enrolmentWindow) !== 1) return null;
  for (let slot = 0; slot < count; slot++) {
    for (const transposed of [0, 1]) {
      const score = wasm.score(slot, transposed);
      const match = score >= minBeaconScore ? decodeInWindow(wasm, slot, transposed, score) : null;
      if (match !== null) return match;
    }
  }
  return null;
}

/**
 * Searches blindly for the sketches in the slots, the most promising first. Reports seven steps per
 * sketch.
 */
async function searchBatch(
  wasm: EngineWasm,
  sketches: readonly Sketch[],
  delegate: SearchDelegate | null,
  reportStep: (done: number) => Promise<void>,
): Promise<RecoverResult> {
  const count = sketches.length;
  try {
    const isDelegateActive = await runCoarsePass(wasm, sketches, delegate, reportStep);
    const ranking = Array.from({ length: count }, (_, slot) => ({
      slot,
      score: wasm.pickCandidates(slot) > 0 ? readCandidate(wasm, 0).score : -1,
    }));
    ranking.sort((a, b) => b.score - a.score);

    let bestFailure: FailedRecovery = { outcome: "not_this_picture", score: -1 };
    for (const [rank, { slot }] of ranking.entries()) {
      const candidates = await refineCandidates(
        wasm,
        slot,
        (done) => reportStep(count + rank * 6 + done),
        isDelegateActive ? delegate : null,
      );
      const result = decodeCandidates(wasm, slot, candidates);
      if (result.outcome === "recovered") return result;
      bestFailure = chooseBetterFailure(bestFailure, result);
    }
    return bestFailure;
  } finally {
    // A delegate that has ended has nothing to wipe.
    await delegate?.wipe().catch(() => undefined);
  }
}

/**
 * Scores all coarse windows, the second half in the delegate. Returns true if the delegate did its
 * part and still has the picture.
 */
async function runCoarsePass(
  wasm: EngineWasm,
  sketches: readonly Sketch[],
  delegate: SearchDelegate | null,
  reportStep: (done: number) => Promise<void>,
): Promise<boolean> {
  const count = sketches.length;
  const windowCount = wasm.coarseWindowCount.value;
  const ownCount = delegate === null ? windowCount : windowCount / 2;
  const delegatedScores =
    delegate?.scoreCoarseWindows(copyAreaTable(wasm), sketches, ownCount, windowCount).catch(() => null) ?? null;
  for (let slice = 0; slice < coarseSliceCount; slice++) {
    await reportStep((count * slice) / coarseSliceCount);
    wasm.runCoarsePass(
      count,
      Math.floor((ownCount * slice) / coarseSliceCount),
      Math.floor((ownCount * (slice + 1)) / coarseSliceCount),
    );
  }
  const scores = await delegatedScores;
  if (scores !== null) writeCoarseScores(wasm, ownCount, scores);
  else if (ownCount < windowCount) wasm.runCoarsePass(count, ownCount, windowCount);
  return scores !== null;
}

/**
 * Refines the candidates of a sketch; returns them by falling score. Gives every other candidate to
 * the delegate, which must have the picture.
 */
export async function refineCandidates(
  wasm: EngineWasm,
  slot: number,
  reportStep: (done: number) => Promise<void>,
  delegate: SearchDelegate | null = null,
): Promise<readonly Candidate[]> {
  const count = wasm.pickCandidates(slot);
  const delegatedIndexes = delegate === null ? [] : Array.from({ length: Math.floor(count / 2) }, (_, i) => 2 * i + 1);
  const delegatedCandidates = delegatedIndexes.map((index) => readCandidate(wasm, index));
  const delegatedResult =
    delegatedIndexes.length === 0 ? null : (delegate?.refine(slot, delegatedCandidates).catch(() => null) ?? null);
  for (let index = 0; index < count; index++) {
    await reportStep(index);
    if (!delegatedIndexes.includes(index)) wasm.refine(slot, index);
  }
  const refined = await delegatedResult;
  if (refined === null) for (const index of delegatedIndexes) wasm.refine(slot, index);
  const candidates = Array.from(
    { length: count },
    (_, index) => refined?.[delegatedIndexes.indexOf(index)] ?? readCandidate(wasm, index),
  );
  return candidates.sort((a, b) => b.score - a.score);
}

/** Whether a sketch has the right sizes, and unused bits of 0. */
export function isValidSketch({ choice, syndrome }: Sketch): boolean {
  return (
    choice.length === byteLengths.choice &&
    syndrome.length === byteLengths.syndrome &&
    ((choice[255] ?? 0) & 0x80) === 0 &&
    ((syndrome[85] ?? 0) & 0xfc) === 0
  );
}
