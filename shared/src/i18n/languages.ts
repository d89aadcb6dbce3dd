import { languages, type Language } from "../contract/index.ts";

/** Local storage key of the language that the person chose. */
export const languageKey = "selectedLanguage";

export const fallbackLanguage: Language = "en";

export function isLanguage(value: unknown): value is Language {
  return languages.some((language) => language === value);
}

/**
 * The chosen language, else the browser's (the part before the dash), else English. Storage that
 * cannot be read counts as empty.
 */
export function detectLanguage(storage: Pick<Storage, "getItem">, browserLanguage: string | undefined): Language {
  const chosen = readQuietly(storage);
  if (isLanguage(chosen)) return chosen;
  const spoken = browserLanguage?.split("-", 1)[0]?.toLowerCase();
  return isLanguage(spoken) ? spoken : fallbackLanguage;
}

/** Stores the choice. Without storage it lasts until the page is reloaded. */
export function rememberLanguage(storage: Pick<Storage, "setItem">, language: Language): void {
  try {
    storage.setItem(languageKey, language);
  } catch {
    // Storage is full or forbidden: the page keeps the choice, the next one detects it anew.
  }
}

function readQuietly(storage: Pick<Storage, "getItem">): string | null {
  try {
    return storage.getItem(languageKey);
  } catch {
    return null; // storage is forbidden: the browser's language is used
  }
}
