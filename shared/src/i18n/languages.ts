import { languages, type Language } from "../contract/index.ts";

/** Local storage key of the chosen language. */
export const languageStorageKey = "selectedLanguage";

export const fallbackLanguage: Language = "en";

export function isLanguage(value: unknown): value is Language {
  return languages.some((language) => language === value);
}

/**
 * Returns the chosen language, else the language of the browser (the part before the dash), else
 * English. Unreadable storage counts as empty.
 */
export function detectLanguage(storage: Pick<Storage, "getItem">, browserLanguage: string | undefined): Language {
  const storedLanguage = readStoredLanguage(storage);
  if (isLanguage(storedLanguage)) return storedLanguage;
  const browserPrimary = browserLanguage?.split("-", 1)[0]?.toLowerCase();
  return isLanguage(browserPrimary) ? browserPrimary : fallbackLanguage;
}

/** Stores the chosen language. If storing fails, the choice lasts until the page is reloaded. */
export function saveLanguage(storage: Pick<Storage, "setItem">, language: Language): void {
  try {
    storage.setItem(languageStorageKey, language);
  } catch {
    // Storage is full or forbidden: the next page detects the language.
  }
}

function readStoredLanguage(storage: Pick<Storage, "getItem">): string | null {
  try {
    return storage.getItem(languageStorageKey);
  } catch {
    return null; // storage is forbidden: the browser's language is used
  }
}
