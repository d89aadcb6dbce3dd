/** Decodes candidate windows, and ranks failures. */
import type { RecoverResult } from "./engine.ts";
import { readCandidate, readImageSecret, type Candidate, type EngineWasm } from "./engine-wasm.ts";

/** A lower score means another picture. */
export const minBeaconScore = 0.2;
const signPatterns = [
  [0, 0],
  [1, 0],
  [0, 1],
  [1, 1],
] as const;

export type FailedRecovery = Exclude<RecoverResult, { outcome: "recovered" }>;

export type SuccessfulRecovery = Extract<RecoverResult, { outcome: "recovered" }>;

/**
 * Prefers `too_many_errors`, which says that the picture belongs to a sketch, then the higher
 * score.
 */
export function chooseBetterFailure(a: FailedRecovery, b: FailedRecovery): FailedRecovery {
  if (a.outcome !== b.outcome) return a.outcome === "too_many_errors" ? a : b;
  return b.score > a.score ? b : a;
}

/**
 * Decodes candidates, given in order of falling score, until the score drops below minBeaconScore.
 */
export function decodeCandidates(wasm: EngineWasm, slot: number, candidates: readonly Candidate[]): RecoverResult {
  const score = candidates[0]?.score ?? -1;
  for (const candidate of candidates) {
    if (candidate.score < minBeaconScore) break;
    wasm.analyseWindow(...candidate.window);
    const recovered = decodeInWindow(wasm, slot, candidate.transposed ? 1 : 0, candidate.score);
    if (recovered !== null) return recovered;
  }
  return score < minBeaconScore
    ? { outcome: "not_this_picture", score }
    : { outcome: "too_many_errors", index: slot, score };
}

export function readRankedCandidates(wasm: EngineWasm, count: number): readonly Candidate[] {
  return Array.from({ length: count }, (_, index) => readCandidate(wasm, index)).sort((a, b) => b.score - a.score);
}

/** Decodes a sketch in the analysed window, with the four sign patterns. */
export function decodeInWindow(
  wasm: EngineWasm,
  slot: number,
  transposed: number,
  score: number,
): SuccessfulRecovery | null {
  for (const [a, b] of signPatterns) {
    const errors = wasm.decodeSketch(slot, transposed, a, b);
    if (errors >= 0)
      return { outcome: "recovered", index: slot, imageSecretBytes: readImageSecret(wasm), errors, score };
  }
  return null;
}
