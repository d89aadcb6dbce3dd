import { validateMnemonic } from "@scure/bip39";

import { seedLengths } from "./seed-lengths.ts";
import type { SeedLanguage } from "./word-lists.ts";

export interface SeedCheck {
  readonly language: SeedLanguage;
  readonly wordCount: number;
  /** Words that are not in the list, as typed and with repetitions. */
  readonly unknownWords: readonly string[];
  /**
   * `unknown`: some words are not in the list. `short`: the number of words is not a BIP-39 length.
   * `wrong`: all words are known, but the checksum does not match. `fits`: the checksum matches.
   */
  readonly verdict: "fits" | "wrong" | "short" | "unknown";
}

/**
 * Checks a phrase with a word list. Ignores case, accents, extra white space, and a last word that
 * is still being typed.
 */
export function checkSeed(text: string, list: readonly string[], language: SeedLanguage): SeedCheck {
  const wordsByFolded = foldWords(list);
  const typedWords = text.split(/\s+/u).filter((word) => word !== "");
  const lastWord = typedWords.at(-1);
  const isLastUnfinished =
    lastWord !== undefined &&
    !/\s$/u.test(text) &&
    !wordsByFolded.has(foldWord(lastWord)) &&
    completeWord(lastWord, list).length > 0;
  const checkedWords = isLastUnfinished ? typedWords.slice(0, -1) : typedWords;
  const unknownWords = checkedWords.filter((word) => !wordsByFolded.has(foldWord(word)));
  const phrase = typedWords.map((word) => wordsByFolded.get(foldWord(word)) ?? word);
  const hasValidLength = seedLengths.some((wordCount) => wordCount === typedWords.length);
  const verdict =
    unknownWords.length > 0
      ? "unknown"
      : isLastUnfinished || !hasValidLength
        ? "short"
        : validateMnemonic(phrase.join(" "), [...list])
          ? "fits"
          : "wrong";
  return { language, wordCount: typedWords.length, unknownWords, verdict };
}

/**
 * Returns at most `limit` words of the list with this prefix. Returns none if the prefix is the
 * only such word.
 */
export function completeWord(prefix: string, list: readonly string[], limit = 6): readonly string[] {
  const foldedPrefix = foldWord(prefix);
  if (foldedPrefix === "") return [];
  const matches: string[] = [];
  for (const [foldedWord, word] of foldWords(list)) {
    if (foldedWord.startsWith(foldedPrefix)) matches.push(word);
    if (matches.length === limit) break;
  }
  return matches.length === 1 && foldWord(matches[0] ?? "") === foldedPrefix ? [] : matches;
}

const foldedLists = new WeakMap<readonly string[], ReadonlyMap<string, string>>();

/** Maps words without case and accents to the words of the list. */
function foldWords(list: readonly string[]): ReadonlyMap<string, string> {
  const cached = foldedLists.get(list);
  if (cached !== undefined) return cached;
  const wordsByFolded = new Map(list.map((word) => [foldWord(word), word] as const));
  foldedLists.set(list, wordsByFolded);
  return wordsByFolded;
}

/**
 * Removes accents from Latin letters, because its word lists are unique without them. In other
 * scripts marks are letters.
 */
function foldWord(word: string): string {
  const plain = word.normalize("NFKD").toLowerCase();
  return /^[\p{Script=Latin}\p{M}]+$/u.test(plain) ? plain.replace(/\p{M}/gu, "") : plain;
}
