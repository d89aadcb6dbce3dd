import { useEffect, useState } from "react";

import { usePortal } from "../../contract/portal.ts";
import type { SeedCheck } from "./check-seed.ts";
import { likelyLanguages, loadWords, type SeedLanguage } from "./word-lists.ts";

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
    const settle = (state: SeedCheckState) => {
      if (current) setChecked({ text, state });
    };
    if (text.trim() !== "")
      bestCheck(text, likelyLanguages(text, language)).then(settle, () => settle({ status: "unchecked" }));
    return () => {
      current = false;
    };
  }, [text, language]);
  if (text.trim() === "") return { status: "empty" };
  // The previous result is returned until the new one is there, which avoids flicker.
  return checked?.state ?? { status: "checking" };
}

async function bestCheck(text: string, groups: readonly (readonly SeedLanguage[])[]): Promise<SeedCheckState> {
  const { checkSeed, completions } = await import(/* webpackChunkName: "words-check" */ "./check-seed.ts");
  let best: { readonly check: SeedCheck; readonly list: readonly string[] } | null = null;
  for (const group of groups) {
    for (const language of group) {
      const list = await loadWords(language);
      const check = checkSeed(text, list, language);
      if (best === null || check.unknown.length < best.check.unknown.length) best = { check, list };
    }
    if (best?.check.unknown.length === 0) break;
  }
  if (best === null) return { status: "unchecked" };
  const { check, list } = best;
  return { status: "checked", check, complete: (prefix) => completions(prefix, list) };
}
