import type { StrengthLevel } from "./strength-level.ts";

const proposedWordCount = 5;

interface StrengthDictionaries {
  readonly estimate: (passphrase: string) => StrengthLevel;
  /** EFF's long list: 7,776 words (CC BY 3.0). */
  readonly words: readonly string[];
}

let cachedDictionaries: Promise<StrengthDictionaries> | null = null;

/**
 * Estimates a passphrase or password with the dictionaries of every language of the portal, so that
 * the form and the vault reach the same level. Fails if the dictionaries cannot be loaded.
 */
export async function estimateStrength(passphrase: string): Promise<StrengthLevel> {
  return (await requireDictionaries()).estimate(passphrase);
}

/**
 * Draws five words of EFF's long list, 64.6 bits. Fails if the list cannot be loaded.
 *
 * @returns the words, separated by spaces
 */
export async function proposePassphrase(): Promise<string> {
  const { words } = await requireDictionaries();
  return Array.from({ length: proposedWordCount }, () => pickRandomWord(words)).join(" ");
}

/**
 * Picks a word with uniform probability: draws again if a number is beyond the last whole multiple
 * of the list's length.
 */
export function pickRandomWord(words: readonly string[]): string {
  const limit = 65_536 - (65_536 % words.length);
  const randomValue = new Uint16Array(1);
  do crypto.getRandomValues(randomValue);
  while ((randomValue[0] ?? limit) >= limit);
  return words[(randomValue[0] ?? 0) % words.length] ?? "";
}

/** Loads on first use. After a failure the next call loads again. */
function requireDictionaries(): Promise<StrengthDictionaries> {
  if (cachedDictionaries !== null) return cachedDictionaries;
  const loading = loadDictionaries();
  cachedDictionaries = loading;
  loading.catch(() => {
    cachedDictionaries = null;
  });
  return loading;
}

async function loadDictionaries(): Promise<StrengthDictionaries> {
  const [{ ZxcvbnFactory }, common, english, spanish] = await Promise.all([
    import(/* webpackChunkName: "strength" */ "@zxcvbn-ts/core"),
    import(/* webpackChunkName: "strength-common" */ "@zxcvbn-ts/language-common"),
    import(/* webpackChunkName: "strength-en" */ "@zxcvbn-ts/language-en"),
    import(/* webpackChunkName: "strength-es" */ "@zxcvbn-ts/language-es-es"),
  ]);
  const estimator = new ZxcvbnFactory({
    dictionary: { ...common.dictionary, ...english.dictionary, ...spanish.dictionary },
    graphs: common.adjacencyGraphs,
  });
  return {
    estimate: (passphrase) => estimator.check(passphrase).score,
    words: common.dictionary["diceware-common"],
  };
}
