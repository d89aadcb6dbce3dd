import { validateMnemonic } from "@scure/bip39";

import type { SeedLanguage } from "./word-lists.ts";

/** How many words a phrase of BIP-39 has. */
export const seedLengths = [12, 15, 18, 21, 24] as const;

export interface SeedCheck {
  readonly language: SeedLanguage;
  readonly count: number;
  /** Words as typed that the list does not have, each as often as it stands there. */
  readonly unknown: readonly string[];
  /** `short`: another number of words than a phrase has. `wrong`: all words are known, and do not fit together. */
  readonly checksum: "fits" | "wrong" | "short" | "unknown";
}

/**
 * Judges a phrase by one word list. Capitals, accents and the space between words do not count. A last word that is still
 * being typed is not judged.
 */
export function checkSeed(text: string, list: readonly string[], language: SeedLanguage): SeedCheck {
  const known = foldedWords(list);
  const typed = text.split(/\s+/u).filter((word) => word !== "");
  const last = typed.at(-1);
  const unfinished = last !== undefined && !/\s$/u.test(text) && !known.has(foldWord(last)) && completions(last, list).length > 0;
  const judged = unfinished ? typed.slice(0, -1) : typed;
  const unknown = judged.filter((word) => !known.has(foldWord(word)));
  const phrase = typed.map((word) => known.get(foldWord(word)) ?? word);
  const whole = seedLengths.some((length) => length === typed.length);
  const checksum = unknown.length > 0 ? "unknown" : unfinished || !whole ? "short" : validateMnemonic(phrase.join(" "), [...list]) ? "fits" : "wrong";
  return { language, count: typed.length, unknown, checksum };
}

/** Words of the list that begin so; none for a whole word that no longer one continues. */
export function completions(beginning: string, list: readonly string[], most = 6): readonly string[] {
  const folded = foldWord(beginning);
  if (folded === "") return [];
  const found: string[] = [];
  for (const [plain, word] of foldedWords(list)) {
    if (plain.startsWith(folded)) found.push(word);
    if (found.length === most) break;
  }
  return found.length === 1 && foldWord(found[0] ?? "") === folded ? [] : found;
}

const folded = new WeakMap<readonly string[], ReadonlyMap<string, string>>();

/** Folded word to the word as the list has it. */
function foldedWords(list: readonly string[]): ReadonlyMap<string, string> {
  const known = folded.get(list);
  if (known !== undefined) return known;
  const made = new Map(list.map((word) => [foldWord(word), word] as const));
  folded.set(list, made);
  return made;
}

/** In Latin letters accents do not count: the lists tell words apart without them. Elsewhere marks are letters. */
function foldWord(word: string): string {
  const plain = word.normalize("NFKD").toLowerCase();
  return /^[\p{Script=Latin}\p{M}]+$/u.test(plain) ? plain.replace(/\p{M}/gu, "") : plain;
}
