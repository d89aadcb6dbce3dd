import { validateMnemonic } from "@scure/bip39";

import { seedLengths } from "./seed-lengths.ts";
import type { SeedLanguage } from "./word-lists.ts";

export interface SeedCheck {
  readonly language: SeedLanguage;
  readonly wordCount: number;
  /** Words as typed that are not in the list, with repetitions. */
  readonly unknownWords: readonly string[];
  /**
   * `unknownWords`: some words are not in the list. `short`: not a BIP-39 length yet. `wrong`: all
   * words known, checksum does not match.
   */
  readonly checksum: "fits" | "wrong" | "short" | "unknown";
}

/**
 * Checks a phrase against one word list, ignoring case, accents and extra white space. A last word
 * that is still being typed is ignored, too.
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
  const checksum =
    unknownWords.length > 0
      ? "unknown"
      : isLastUnfinished || !hasValidLength
        ? "short"
        : validateMnemonic(phrase.join(" "), [...list])
          ? "fits"
          : "wrong";
  return { language, wordCount: typedWords.length, unknownWords, checksum };
}

/**
 * Words of the list with this prefix, at most `limit`; none when the prefix is already the only
 * match.
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

/** Folded word to the word as the list has it. */
function foldWords(list: readonly string[]): ReadonlyMap<string, string> {
  const cached = foldedLists.get(list);
  if (cached !== undefined) return cached;
  const wordsByFolded = new Map(list.map((word) => [foldWord(word), word] as const));
  foldedLists.set(list, wordsByFolded);
  return wordsByFolded;
}

/**
 * In Latin letters accents do not count: the lists tell words apart without them. Elsewhere marks
 * are letters.
 */
function foldWord(word: string): string {
  const plain = word.normalize("NFKD").toLowerCase();
  return /^[\p{Script=Latin}\p{M}]+$/u.test(plain) ? plain.replace(/\p{M}/gu, "") : plain;
}
