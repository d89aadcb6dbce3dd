import type { Language } from "../../contract/language.ts";

/**
 * 0: guessed at once, 4: strong; what an attacker with a dictionary needs, not how many kinds of
 * characters there are.
 */
export type StrengthLevel = 0 | 1 | 2 | 3 | 4;

type StrengthEstimator = (passphrase: string) => StrengthLevel;

const estimators = new Map<Language, Promise<StrengthEstimator>>();

/**
 * The estimator with the words of one language, fetched when a passphrase is first asked for. A
 * failed load is forgotten.
 */
export function loadStrengthEstimator(language: Language): Promise<StrengthEstimator> {
  const cached = estimators.get(language);
  if (cached !== undefined) return cached;
  const loading = createEstimator(language);
  estimators.set(language, loading);
  loading.catch(() => estimators.delete(language));
  return loading;
}

async function createEstimator(language: Language): Promise<StrengthEstimator> {
  const [{ ZxcvbnFactory }, common, languagePack] = await Promise.all([
    import(/* webpackChunkName: "strength" */ "@zxcvbn-ts/core"),
    import(/* webpackChunkName: "strength-common" */ "@zxcvbn-ts/language-common"),
    language === "es"
      ? import(/* webpackChunkName: "strength-es" */ "@zxcvbn-ts/language-es-es")
      : import(/* webpackChunkName: "strength-en" */ "@zxcvbn-ts/language-en"),
  ]);
  const estimator = new ZxcvbnFactory({
    dictionary: { ...common.dictionary, ...languagePack.dictionary },
    graphs: common.adjacencyGraphs,
  });
  return (passphrase) => estimator.check(passphrase).score;
}
