import { usePortal } from "@relicario/shared/contract";
import { useEffect, useState } from "react";

import { checkSeed, type SeedCheck } from "./check-seed.ts";
import { likelyLanguages, loadWords, type SeedLanguage } from "./word-lists.ts";

export type SeedStanding =
  | { readonly status: "empty" }
  | { readonly status: "checking" }
  | { readonly status: "checked"; readonly check: SeedCheck; readonly list: readonly string[] }
  /** The words could not be fetched: a phrase is protected unchecked. */
  | { readonly status: "unchecked" };

/** Checks a phrase while it is typed, on this device. The list that knows most of its words is the one it is judged by. */
export function useSeedCheck(text: string): SeedStanding {
  const { language } = usePortal();
  const [checked, setChecked] = useState<{ readonly text: string; readonly standing: SeedStanding } | null>(null);
  useEffect(() => {
    let current = true;
    const settle = (standing: SeedStanding) => {
      if (current) setChecked({ text, standing });
    };
    if (text.trim() !== "") bestCheck(text, likelyLanguages(text, language)).then(settle, () => settle({ status: "unchecked" }));
    return () => {
      current = false;
    };
  }, [text, language]);
  if (text.trim() === "") return { status: "empty" };
  // The judgement of the letter before stands until there is a new one, so that nothing flickers.
  return checked?.standing ?? { status: "checking" };
}

async function bestCheck(text: string, groups: readonly (readonly SeedLanguage[])[]): Promise<SeedStanding> {
  let best: { readonly check: SeedCheck; readonly list: readonly string[] } | null = null;
  for (const group of groups) {
    for (const language of group) {
      const list = await loadWords(language);
      const check = checkSeed(text, list, language);
      if (best === null || check.unknown.length < best.check.unknown.length) best = { check, list };
    }
    if (best?.check.unknown.length === 0) break;
  }
  return best === null ? { status: "unchecked" } : { status: "checked", ...best };
}
