import { loadWordList, portalWordLists } from "../seed/word-lists.ts";
import type { Language } from "../../contract/language.ts";

export interface NumberedWord {
  /** Word of the reader's list, in NFC. */
  readonly word: string;
  /**
   * Position in the list, 1 to 2048, which is the same in every language. Null for a word that is
   * in no list.
   */
  readonly number: number | null;
}

export interface WordLists {
  readonly english: readonly string[];
  readonly own: readonly string[];
}

export async function loadWordLists(language: Language): Promise<WordLists> {
  const [english, own] = await Promise.all([loadWordList("english"), loadWordList(portalWordLists[language])]);
  return { english, own };
}

/** Translates words of the English BIP-39 list by their numbers to words of another list. */
export function numberWords(words: readonly string[], { english, own }: WordLists): readonly NumberedWord[] {
  return words.map((word) => {
    const index = english.indexOf(word);
    const ownWord = own[index];
    return ownWord === undefined ? { word, number: null } : { word: ownWord.normalize("NFC"), number: index + 1 };
  });
}

/**
 * Replaces typed Spanish words by the English words with the same numbers, if more of the words are
 * Spanish than English. Returns other words, and numbers, as typed.
 */
export async function toEnglishWords(typed: string): Promise<string> {
  const { english, own: spanish } = await loadWordLists("es");
  const plainSpanish = spanish.map(removeAccents);
  const words =
    removeAccents(typed)
      .toLowerCase()
      .match(/[a-z]+/gu) ?? [];
  const countKnown = (list: readonly string[]) => words.filter((word) => list.includes(word)).length;
  if (countKnown(plainSpanish) <= countKnown(english)) return typed;
  return words.map((word) => english[plainSpanish.indexOf(word)] ?? word).join(" ");
}

function removeAccents(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "");
}
