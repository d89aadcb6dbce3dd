/**
 * Finding sketches in the picture that the engine holds: the same framing first, then the blind
 * search.
 */
import {
  beaconFloor,
  betterFailure,
  decodeCandidates,
  decodeLooked,
  type Failure,
  type Recovered,
} from "./candidates.ts";
import { searchHinted } from "./hinted-search.ts";
import { sketchSizes, type RecoverResult, type SearchHint, type Sketch } from "./engine.ts";
import {
  copyTable,
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
  readonly straight?: boolean;
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
  { straight: straightFirst = true, hint, helper = null }: SearchOptions = {},
): Promise<RecoverResult> {
  let best: Failure = { outcome: "not_this_picture", score: -1 };
  const slots = wasm.sketchSlots.value;
  for (let from = 0; straightFirst && from < sketches.length; from += slots) {
    const batch = sketches.slice(from, from + slots);
    batch.forEach((sketch, slot) => {
      writeSketch(wasm, slot, sketch);
    });
    await pause("straight", from, sketches.length);
    const straight = lookStraight(wasm, batch.length);
    if (straight !== null) return { ...straight, index: from + straight.index };
  }
  for (let from = 0; from < sketches.length; from += slots) {
    const batch = sketches.slice(from, from + slots);
    batch.forEach((sketch, slot) => {
      writeSketch(wasm, slot, sketch);
    });
    const total = sketches.length;
    const share = batch.length / total;
    const result =
      hint === undefined
        ? await searchBatch(wasm, batch, helper, (done) => pause("searching", from * 7 + done, total * 7))
        : await searchHinted(wasm, batch.length, hint, (done, all) =>
            pause("searching", from / total + (done / all) * share, 1),
          );
    if (result.outcome === "recovered") return { ...result, index: from + result.index };
    best = betterFailure(
      best,
      result.outcome === "too_many_errors" ? { ...result, index: from + result.index } : result,
    );
  }
  return best;
}

/** Tries the framing of enrolment, in all eight orientations. */
export function lookStraight(wasm: EngineWasm, count: number): Recovered | null {
  if (wasm.look(...enrolmentWindow) !== 1) return null;
  for (let slot = 0; slot < count; slot++) {
    for (const transposed of [0, 1]) {
      const score = wasm.score(slot, transposed);
      const found = score >= beaconFloor ? decodeLooked(wasm, slot, transposed, score) : null;
      if (found !== null) return found;
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
  step: (done: number) => Promise<void>,
): Promise<RecoverResult> {
  const count = sketches.length;
  try {
    const helped = await coarsePass(wasm, sketches, helper, step);
    const order = Array.from({ length: count }, (_, slot) => ({
      slot,
      score: wasm.choose(slot) > 0 ? readCandidate(wasm, 0).score : -1,
    }));
    order.sort((a, b) => b.score - a.score);

    let best: Failure = { outcome: "not_this_picture", score: -1 };
    for (const [place, { slot }] of order.entries()) {
      const found = await refineAll(wasm, slot, (done) => step(count + place * 6 + done), helped ? helper : null);
      const result = decodeCandidates(wasm, slot, found);
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
async function coarsePass(
  wasm: EngineWasm,
  sketches: readonly Sketch[],
  helper: SearchHelper | null,
  step: (done: number) => Promise<void>,
): Promise<boolean> {
  const count = sketches.length;
  const all = wasm.coarseWindows.value;
  const own = helper === null ? all : all / 2;
  const theirs = helper?.coarse(copyTable(wasm), sketches, own, all).catch(() => null) ?? null;
  for (let slice = 0; slice < coarseSlices; slice++) {
    await step((count * slice) / coarseSlices);
    wasm.coarse(count, Math.floor((own * slice) / coarseSlices), Math.floor((own * (slice + 1)) / coarseSlices));
  }
  const scores = await theirs;
  if (scores !== null) writeCoarseScores(wasm, own, scores);
  else if (own < all) wasm.coarse(count, own, all);
  return scores !== null;
}

/**
 * The candidates of a sketch, refined, best final score first. With a helper, which knows the
 * picture, every other one there.
 */
export async function refineAll(
  wasm: EngineWasm,
  slot: number,
  step: (done: number) => Promise<void>,
  helper: SearchHelper | null = null,
): Promise<readonly Candidate[]> {
  const count = wasm.choose(slot);
  const lent = helper === null ? [] : Array.from({ length: Math.floor(count / 2) }, (_, i) => 2 * i + 1);
  const starts = lent.map((index) => readCandidate(wasm, index));
  const theirs = lent.length === 0 ? null : (helper?.refine(slot, starts).catch(() => null) ?? null);
  for (let index = 0; index < count; index++) {
    await step(index);
    if (!lent.includes(index)) wasm.refine(slot, index);
  }
  const refined = await theirs;
  if (refined === null) for (const index of lent) wasm.refine(slot, index);
  const found = Array.from(
    { length: count },
    (_, index) => refined?.[lent.indexOf(index)] ?? readCandidate(wasm, index),
  );
  return found.sort((a, b) => b.score - a.score);
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
