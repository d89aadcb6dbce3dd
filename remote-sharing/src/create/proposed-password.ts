import { pickRandomWord, type Language } from "@relicario/shared/contract";
import { loadWordList, portalWordLists } from "@relicario/shared/forms";

const wordCount = 4;
/** Words without accents, which people type in the same way on every keyboard. */
const plainWord = /^[a-z]+$/;

/**
 * Draws four words from the unaccented words of the BIP-39 list in the portal's language: 2,048 in
 * English (44 bits), about 1,700 in Spanish (43 bits). The service allows ten tries per link.
 */
export async function proposePassword(language: Language): Promise<string> {
  const words = (await loadWordList(portalWordLists[language])).filter((word) => plainWord.test(word));
  return Array.from({ length: wordCount }, () => pickRandomWord(words)).join(" ");
}
