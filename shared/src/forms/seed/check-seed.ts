import { validateMnemonic } from "@scure/bip39";

import { seedLengths } from "./seed-lengths.ts";
import type { SeedLanguage } from "./word-lists.ts";

export interface SeedCheck {
  readonly language: SeedLanguage;
  readonly count: number;
  /** Words as typed that are not in the list, with repetitions. */
  readonly unknown: readonly string[];
  /**
   * `unknown`: some words are not in the list. `short`: not a BIP-39 length yet. `wrong`: all words
   * known, checksum does not match.
   */
  readonly checksum: "fits" | "wrong" | "short" | "unknown";
}

/**
 * Checks a phrase against one word list, ignoring case, accents and extra white space. A last word
 * that is still being typed is ignored, too.
 */
export function checkSeed(text: string, list: readonly string[], language: SeedLanguage): SeedCheck {
  const known = foldedWords(list);
  const typed = text.split(/\s+/u).filter((word) => word !== "");
  const last = typed.at(-1);
  const unfinished =
    last !== undefined && !/\s$/u.test(text) && !known.has(foldWord(last)) && completions(last, list).length > 0;
  const checkedWords = unfinished ? typed.slice(0, -1) : typed;
  const unknown = checkedWords.filter((word) => !known.has(foldWord(word)));
  const phrase = typed.map((word) => known.get(foldWord(word)) ?? word);
  const completeLength = seedLengths.some((length) => length === typed.length);
  const checksum =
    unknown.length > 0
      ? "unknown"
      : unfinished || !completeLength
        ? "short"
        : validateMnemonic(phrase.join(" "), [...list])
          ? "fits"
          : "wrong";
  return { language, count: typed.length, unknown, checksum };
}

/**
 * Words of the list with this prefix, at most `most`; none when the prefix is already the only
 * match.
 */
export function completions(prefix: string, list: readonly string[], most = 6): readonly string[] {
  const folded = foldWord(prefix);
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

/**
 * In Latin letters accents do not count: the lists tell words apart without them. Elsewhere marks
 * are letters.
 */
function foldWord(word: string): string {
  const plain = word.normalize("NFKD").toLowerCase();
  return /^[\p{Script=Latin}\p{M}]+$/u.test(plain) ? plain.replace(/\p{M}/gu, "") : plain;
}
