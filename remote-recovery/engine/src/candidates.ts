/** From windows to an answer: which candidates are decoded, and which failure says most. */
import type { RecoverResult } from "./engine.ts";
import { readCandidate, readImageSecret, type Candidate, type EngineWasm } from "./engine-wasm.ts";

/** A score below this means: another picture. */
export const beaconFloor = 0.2;
const signPatterns = [
  [0, 0],
  [1, 0],
  [0, 1],
  [1, 1],
] as const;

/** A failed recovery with what is needed to compare failures. */
export type Failure = Exclude<RecoverResult, { outcome: "recovered" }>;

export type Recovered = Extract<RecoverResult, { outcome: "recovered" }>;

/** The picture of a sketch, though it does not decode, says more than any other score. */
export function betterFailure(a: Failure, b: Failure): Failure {
  if (a.outcome !== b.outcome) return a.outcome === "too_many_errors" ? a : b;
  return b.score > a.score ? b : a;
}

/** Decodes in order of final score, those of 0.20 or more. */
export function decodeCandidates(wasm: EngineWasm, slot: number, found: readonly Candidate[]): RecoverResult {
  const score = found[0]?.score ?? -1;
  for (const candidate of found) {
    if (candidate.score < beaconFloor) break;
    wasm.look(...candidate.window);
    const recovered = decodeLooked(wasm, slot, candidate.transposed ? 1 : 0, candidate.score);
    if (recovered !== null) return recovered;
  }
  return score < beaconFloor
    ? { outcome: "not_this_picture", score }
    : { outcome: "too_many_errors", index: slot, score };
}

/** The first `count` candidates, best score first. */
export function readRefined(wasm: EngineWasm, count: number): readonly Candidate[] {
  return Array.from({ length: count }, (_, index) => readCandidate(wasm, index)).sort((a, b) => b.score - a.score);
}

/** Decodes a sketch in the window looked at, with the four sign patterns. */
export function decodeLooked(wasm: EngineWasm, slot: number, transposed: number, score: number): Recovered | null {
  for (const [a, b] of signPatterns) {
    const errors = wasm.attempt(slot, transposed, a, b);
    if (errors >= 0)
      return { outcome: "recovered", index: slot, imageSecretBytes: readImageSecret(wasm), errors, score };
  }
  return null;
}
