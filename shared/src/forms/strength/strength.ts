import type { Language } from "../../contract/language.ts";

/**
 * 0: guessed at once, 4: strong; what an attacker with a dictionary needs, not how many kinds of
 * characters there are.
 */
export type StrengthLevel = 0 | 1 | 2 | 3 | 4;

type Check = (passphrase: string) => StrengthLevel;

const checks = new Map<Language, Promise<Check>>();

/**
 * The estimator with the words of one language, fetched when a passphrase is first asked for. A
 * failed load is forgotten.
 */
export function loadStrength(language: Language): Promise<Check> {
  const known = checks.get(language);
  if (known !== undefined) return known;
  const loading = load(language);
  checks.set(language, loading);
  loading.catch(() => checks.delete(language));
  return loading;
}

async function load(language: Language): Promise<Check> {
  const [{ ZxcvbnFactory }, common, own] = await Promise.all([
    import(/* webpackChunkName: "strength" */ "@zxcvbn-ts/core"),
    import(/* webpackChunkName: "strength-common" */ "@zxcvbn-ts/language-common"),
    language === "es"
      ? import(/* webpackChunkName: "strength-es" */ "@zxcvbn-ts/language-es-es")
      : import(/* webpackChunkName: "strength-en" */ "@zxcvbn-ts/language-en"),
  ]);
  const estimator = new ZxcvbnFactory({
    dictionary: { ...common.dictionary, ...own.dictionary },
    graphs: common.adjacencyGraphs,
  });
  return (passphrase) => estimator.check(passphrase).score;
}
