/**
 * What is written from right to left, and marks of direction: it can change the order of the words
 * around it.
 */
const bidiCharacters =
  /[\u0590-\u08FF\u200E\u200F\u202A-\u202E\u2066-\u2069\uFB1D-\uFDFF\uFE70-\uFEFF\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

/** Embeddings, overrides and isolates, whose end would be outside the value. */
const bidiControls = /[\u202A-\u202E\u2066-\u2069]/gu;

const [isolateStart, isolateEnd] = ["\u2068", "\u2069"];

/**
 * A text of somebody else, inside a sentence, as `<bdi>` does it in markup: the sentence keeps its
 * order (Unicode Bidirectional Algorithm, first strong isolate). What reads from left to right
 * anyway stays as it is.
 */
export function isolateBidi(value: string): string {
  return bidiCharacters.test(value) ? `${isolateStart}${value.replace(bidiControls, "")}${isolateEnd}` : value;
}
