import type { Language } from "@relicario/shared/contract";
import { loadWordList } from "@relicario/shared/forms";

const wordCount = 4;
/** No accents, so that it is typed the same on every keyboard. */
const plainWord = /^[a-z]+$/;

/**
 * Four words with a space between them, each drawn from the plain words of the BIP-39 list of the
 * portal's language: of 2,048 in English (44 bits), of some 1,700 in Spanish (43 bits). Whoever has
 * the link has ten tries at the service.
 */
export async function proposePassword(language: Language): Promise<string> {
  const words = (await loadWordList(language === "es" ? "spanish" : "english")).filter((word) => plainWord.test(word));
  return Array.from({ length: wordCount }, () => pickRandomWord(words)).join(" ");
}

/** Each with equal chances: numbers beyond the last multiple of the length are drawn again. */
function pickRandomWord(words: readonly string[]): string {
  const limit = 65_536 - (65_536 % words.length);
  const randomValue = new Uint16Array(1);
  do crypto.getRandomValues(randomValue);
  while ((randomValue[0] ?? limit) >= limit);
  return words[(randomValue[0] ?? 0) % words.length] ?? "";
}
