import { useEffect, useState } from "react";

import { usePortal } from "../../contract/portal.ts";
import type { SeedCheck } from "./check-seed.ts";
import { guessLanguages, loadWordList, type SeedLanguage } from "./word-lists.ts";

export type SeedCheckState =
  | { readonly status: "empty" }
  | { readonly status: "checking" }
  | { readonly status: "checked"; readonly check: SeedCheck; readonly complete: (prefix: string) => readonly string[] }
  /** What checks could not be fetched. The phrase is taken all the same. */
  | { readonly status: "unchecked" };

/**
 * Checks a phrase while it is typed, on the device, against the word list that knows most of its
 * words.
 */
export function useSeedCheck(text: string): SeedCheckState {
  const { language } = usePortal();
  const [checked, setChecked] = useState<{ readonly text: string; readonly state: SeedCheckState } | null>(null);
  useEffect(() => {
    let current = true;
    const finish = (state: SeedCheckState) => {
      if (current) setChecked({ text, state });
    };
    if (text.trim() !== "")
      findBestCheck(text, guessLanguages(text, language)).then(finish, () => finish({ status: "unchecked" }));
    return () => {
      current = false;
    };
  }, [text, language]);
  if (text.trim() === "") return { status: "empty" };
  // The previous result is returned until the new one is there, which avoids flicker.
  return checked?.state ?? { status: "checking" };
}

async function findBestCheck(text: string, groups: readonly (readonly SeedLanguage[])[]): Promise<SeedCheckState> {
  const { checkSeed, completeWord } = await import(/* webpackChunkName: "words-check" */ "./check-seed.ts");
  let best: { readonly check: SeedCheck; readonly list: readonly string[] } | null = null;
  for (const group of groups) {
    for (const language of group) {
      const list = await loadWordList(language);
      const check = checkSeed(text, list, language);
      if (best === null || check.unknownWords.length < best.check.unknownWords.length) best = { check, list };
    }
    if (best?.check.unknownWords.length === 0) break;
  }
  if (best === null) return { status: "unchecked" };
  const { check, list } = best;
  return { status: "checked", check, complete: (prefix) => completeWord(prefix, list) };
}
