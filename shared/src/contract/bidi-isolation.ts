/** Right-to-left characters and direction marks, which can reorder neighbouring words. */
const bidiCharacters =
  /[\u0590-\u08FF\u200E\u200F\u202A-\u202E\u2066-\u2069\uFB1D-\uFDFF\uFE70-\uFEFF\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

/**
 * Embeddings, overrides and isolates. Without a closing control they would affect the text after
 * the value.
 */
const bidiControls = /[\u202A-\u202E\u2066-\u2069]/gu;

const [isolateStart, isolateEnd] = ["\u2068", "\u2069"];

/**
 * Isolates another person's text within a sentence, like `<bdi>` in markup, so that the sentence
 * keeps its order (Unicode Bidirectional Algorithm, first strong isolate). Returns left-to-right
 * text unchanged.
 */
export function isolateBidi(value: string): string {
  return bidiCharacters.test(value) ? `${isolateStart}${removeBidiControls(value)}${isolateEnd}` : value;
}

/** Marks a user's own text in a sentence, so that a screen can keep it from translators. */
export function markVerbatim(value: string): string {
  return `${isolateStart}${removeBidiControls(value)}${isolateEnd}`;
}

/** Captures each marked or isolated text. */
export const markedText = /\u2068([^\u2069]*)\u2069/u;

/**
 * Removes controls that reorder a name. With a control, the stored name `invoice[U+202E]fdp.exe` is
 * displayed as `invoiceexe.pdf`.
 */
export function removeBidiControls(value: string): string {
  return value.replace(bidiControls, "");
}
