import { useEffect, useState } from "react";

import { usePortal } from "../../contract/portal.ts";
import type { SeedCheck } from "./check-seed.ts";
import { guessLanguages, loadWordList, type SeedLanguage } from "./word-lists.ts";

export type SeedCheckState =
  | { readonly status: "empty" }
  | { readonly status: "checking" }
  | { readonly status: "checked"; readonly check: SeedCheck; readonly complete: (prefix: string) => readonly string[] }
  /** The word lists could not be loaded; the phrase is accepted unchecked. */
  | { readonly status: "unchecked" };

/**
 * Checks a phrase while the person types, on the device, with the word list that contains most of
 * its words.
 */
export function useSeedCheck(text: string): SeedCheckState {
  const { language } = usePortal();
  const [latestCheck, setLatestCheck] = useState<{ readonly text: string; readonly state: SeedCheckState } | null>(
    null,
  );
  useEffect(() => {
    let isCurrent = true;
    const finish = (state: SeedCheckState) => {
      if (isCurrent) setLatestCheck({ text, state });
    };
    if (text.trim() !== "")
      findBestCheck(text, guessLanguages(text, language)).then(finish, () => finish({ status: "unchecked" }));
    return () => {
      isCurrent = false;
    };
  }, [text, language]);
  if (text.trim() === "") return { status: "empty" };
  // Returns the previous result until the new one arrives, so that the text does not flicker.
  return latestCheck?.state ?? { status: "checking" };
}

async function findBestCheck(text: string, groups: readonly (readonly SeedLanguage[])[]): Promise<SeedCheckState> {
  const { checkSeed, completeWord } = await import(/* webpackChunkName: "words-check" */ "./check-seed.ts");
  let bestMatch: { readonly check: SeedCheck; readonly list: readonly string[] } | null = null;
  for (const group of groups) {
    for (const language of group) {
      const list = await loadWordList(language);
      const check = checkSeed(text, list, language);
      if (bestMatch === null || check.unknownWords.length < bestMatch.check.unknownWords.length)
        bestMatch = { check, list };
    }
    if (bestMatch?.check.unknownWords.length === 0) break;
  }
  if (bestMatch === null) return { status: "unchecked" };
  const { check, list } = bestMatch;
  return { status: "checked", check, complete: (prefix) => completeWord(prefix, list) };
}
