/**
 * Finding sketches in the picture that the engine holds: the same framing first, then the blind
 * search.
 */
import {
  beaconFloor,
  betterFailure,
  decodeCandidates,
  decodeInWindow,
  type FailedRecovery,
  type SuccessfulRecovery,
} from "./candidates.ts";
import { searchHinted } from "./hinted-search.ts";
import { sketchSizes, type RecoverResult, type SearchHint, type Sketch } from "./engine.ts";
import {
  copyAreaTable,
  enrolmentWindow,
  readCandidate,
  writeCoarseScores,
  writeSketch,
  type Candidate,
  type EngineWasm,
} from "./engine-wasm.ts";
import type { SearchHelper } from "./second-core.ts";

/** Pauses of the coarse pass; windows between two of them share their sides by 36. */
const coarseSlices = 6;

/** Lets waiting messages in (a cancellation above all) and reports; rejects with `cancelled`. */
export type Pause = (phase: "straight" | "searching", done: number, total: number) => Promise<void>;

export interface SearchOptions {
  /** Whether the framing of enrolment is tried first; it is unless this says no. */
  readonly tryDirect?: boolean;
  readonly hint?: SearchHint | undefined;
  /** Another core for half of the work. */
  readonly helper?: SearchHelper | null;
}

/**
 * Looks for any of the sketches. One that decodes ends it; else the best failure. Sketches of a
 * wrong size fit nothing: the caller checks them.
 */
export async function findSketch(
  wasm: EngineWasm,
  sketches: readonly Sketch[],
  pause: Pause,
  { tryDirect = true, hint, helper = null }: SearchOptions = {},
): Promise<RecoverResult> {
  let best: FailedRecovery = { outcome: "not_this_picture", score: -1 };
  const slots = wasm.sketchSlots.value;
  for (let start = 0; tryDirect && start < sketches.length; start += slots) {
    const batch = sketches.slice(start, start + slots);
    batch.forEach((sketch, slot) => {
      writeSketch(wasm, slot, sketch);
    });
    await pause("straight", start, sketches.length);
    const direct = matchEnrolmentWindow(wasm, batch.length);
    if (direct !== null) return { ...direct, index: start + direct.index };
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
        ? await searchBatch(wasm, batch, helper, (done) => pause("searching", start * 7 + done, total * 7))
        : await searchHinted(wasm, batch.length, hint, (done, steps) =>
            pause("searching", start / total + (done / steps) * fraction, 1),
          );
    if (result.outcome === "recovered") return { ...result, index: start + result.index };
    best = betterFailure(
      best,
      result.outcome === "too_many_errors" ? { ...result, index: start + result.index } : result,
    );
  }
  return best;
}

/** Tries the framing of enrolment, in all eight orientations. */
export function matchEnrolmentWindow(wasm: EngineWasm, count: number): SuccessfulRecovery | null {
  if (wasm.analyseWindow(...enrolmentWindow) !== 1) return null;
  for (let slot = 0; slot < count; slot++) {
    for (const transposed of [0, 1]) {
      const score = wasm.score(slot, transposed);
      const match = score >= beaconFloor ? decodeInWindow(wasm, slot, transposed, score) : null;
      if (match !== null) return match;
    }
  }
  return null;
}

/**
 * Blind search for the sketches in the slots; seven steps each. The most promising sketch goes
 * first.
 */
async function searchBatch(
  wasm: EngineWasm,
  sketches: readonly Sketch[],
  helper: SearchHelper | null,
  reportStep: (done: number) => Promise<void>,
): Promise<RecoverResult> {
  const count = sketches.length;
  try {
    const helperActive = await runCoarsePass(wasm, sketches, helper, reportStep);
    const ranking = Array.from({ length: count }, (_, slot) => ({
      slot,
      score: wasm.pickCandidates(slot) > 0 ? readCandidate(wasm, 0).score : -1,
    }));
    ranking.sort((a, b) => b.score - a.score);

    let best: FailedRecovery = { outcome: "not_this_picture", score: -1 };
    for (const [rank, { slot }] of ranking.entries()) {
      const candidates = await refineAll(
        wasm,
        slot,
        (done) => reportStep(count + rank * 6 + done),
        helperActive ? helper : null,
      );
      const result = decodeCandidates(wasm, slot, candidates);
      if (result.outcome === "recovered") return result;
      best = betterFailure(best, result);
    }
    return best;
  } finally {
    // A helper that is gone holds nothing.
    await helper?.wipe().catch(() => undefined);
  }
}

/**
 * Scores all coarse windows, the second half of them elsewhere. True when the helper has done its
 * part, and may be asked again.
 */
async function runCoarsePass(
  wasm: EngineWasm,
  sketches: readonly Sketch[],
  helper: SearchHelper | null,
  reportStep: (done: number) => Promise<void>,
): Promise<boolean> {
  const count = sketches.length;
  const windowCount = wasm.coarseWindowCount.value;
  const ownCount = helper === null ? windowCount : windowCount / 2;
  const helperScores =
    helper?.scoreCoarseWindows(copyAreaTable(wasm), sketches, ownCount, windowCount).catch(() => null) ?? null;
  for (let slice = 0; slice < coarseSlices; slice++) {
    await reportStep((count * slice) / coarseSlices);
    wasm.runCoarsePass(
      count,
      Math.floor((ownCount * slice) / coarseSlices),
      Math.floor((ownCount * (slice + 1)) / coarseSlices),
    );
  }
  const scores = await helperScores;
  if (scores !== null) writeCoarseScores(wasm, ownCount, scores);
  else if (ownCount < windowCount) wasm.runCoarsePass(count, ownCount, windowCount);
  return scores !== null;
}

/**
 * The candidates of a sketch, refined, best final score first. With a helper, which knows the
 * picture, every other one there.
 */
export async function refineAll(
  wasm: EngineWasm,
  slot: number,
  reportStep: (done: number) => Promise<void>,
  helper: SearchHelper | null = null,
): Promise<readonly Candidate[]> {
  const count = wasm.pickCandidates(slot);
  const delegated = helper === null ? [] : Array.from({ length: Math.floor(count / 2) }, (_, i) => 2 * i + 1);
  const delegatedCandidates = delegated.map((index) => readCandidate(wasm, index));
  const helperResult =
    delegated.length === 0 ? null : (helper?.refine(slot, delegatedCandidates).catch(() => null) ?? null);
  for (let index = 0; index < count; index++) {
    await reportStep(index);
    if (!delegated.includes(index)) wasm.refine(slot, index);
  }
  const refined = await helperResult;
  if (refined === null) for (const index of delegated) wasm.refine(slot, index);
  const candidates = Array.from(
    { length: count },
    (_, index) => refined?.[delegated.indexOf(index)] ?? readCandidate(wasm, index),
  );
  return candidates.sort((a, b) => b.score - a.score);
}

/** True for a sketch of the right sizes whose unused bits are 0. */
export function isSketch({ choice, syndrome }: Sketch): boolean {
  return (
    choice.length === sketchSizes.choice &&
    syndrome.length === sketchSizes.syndrome &&
    ((choice[255] ?? 0) & 0x80) === 0 &&
    ((syndrome[85] ?? 0) & 0xfc) === 0
  );
}
