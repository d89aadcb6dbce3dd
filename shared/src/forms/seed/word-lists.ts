import type { Language } from "../../contract/language.ts";

/** The languages with a BIP-39 word list. */
export const seedLanguages = [
  "english",
  "spanish",
  "french",
  "italian",
  "portuguese",
  "czech",
  "japanese",
  "korean",
  "simplified-chinese",
  "traditional-chinese",
] as const;
export type SeedLanguage = (typeof seedLanguages)[number];

interface WordListModule {
  readonly wordlist: readonly string[];
}

/** One lazily loaded chunk per list. */
const loaders: Readonly<Record<SeedLanguage, () => Promise<WordListModule>>> = {
  english: () => import(/* webpackChunkName: "words-english" */ "@scure/bip39/wordlists/english.js"),
  spanish: () => import(/* webpackChunkName: "words-spanish" */ "@scure/bip39/wordlists/spanish.js"),
  french: () => import(/* webpackChunkName: "words-french" */ "@scure/bip39/wordlists/french.js"),
  italian: () => import(/* webpackChunkName: "words-italian" */ "@scure/bip39/wordlists/italian.js"),
  portuguese: () => import(/* webpackChunkName: "words-portuguese" */ "@scure/bip39/wordlists/portuguese.js"),
  czech: () => import(/* webpackChunkName: "words-czech" */ "@scure/bip39/wordlists/czech.js"),
  japanese: () => import(/* webpackChunkName: "words-japanese" */ "@scure/bip39/wordlists/japanese.js"),
  korean: () => import(/* webpackChunkName: "words-korean" */ "@scure/bip39/wordlists/korean.js"),
  "simplified-chinese": () =>
    import(/* webpackChunkName: "words-simplified-chinese" */ "@scure/bip39/wordlists/simplified-chinese.js"),
  "traditional-chinese": () =>
    import(/* webpackChunkName: "words-traditional-chinese" */ "@scure/bip39/wordlists/traditional-chinese.js"),
};

/** Word list of each language of the portal. */
export const portalWordLists = { en: "english", es: "spanish" } as const satisfies Record<Language, SeedLanguage>;

/**
 * Loads the 2,048 words of a list, in NFKD. The words are those of BIP-39 (MIT),
 * `bip-0039/<language>.txt`, from `@scure/bip39` (MIT).
 */
export async function loadWordList(language: SeedLanguage): Promise<readonly string[]> {
  return (await loaders[language]()).wordlist;
}

/**
 * Returns the languages to check, in groups. A group is checked only if no earlier group has a
 * language that contains every word. The script of the text decides; in Latin script the portal's
 * language is first.
 */
export function guessLanguages(text: string, portalLanguage: Language): readonly (readonly SeedLanguage[])[] {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return [["japanese"]];
  if (/\p{Script=Hangul}/u.test(text)) return [["korean"]];
  if (/\p{Script=Han}/u.test(text)) return [["simplified-chinese", "traditional-chinese"]];
  return [
    [portalWordLists[portalLanguage]],
    [portalLanguage === "es" ? "english" : "spanish"],
    ["french", "italian", "portuguese", "czech"],
  ];
}
