import { languages, type Language } from "../contract/index.ts";

/** Local storage key of the language that the person chose. */
export const languageStorageKey = "selectedLanguage";

export const fallbackLanguage: Language = "en";

export function isLanguage(value: unknown): value is Language {
  return languages.some((language) => language === value);
}

/**
 * The chosen language, else the browser's (the part before the dash), else English. Storage that
 * cannot be read counts as empty.
 */
export function detectLanguage(storage: Pick<Storage, "getItem">, browserLanguage: string | undefined): Language {
  const storedLanguage = readStoredLanguage(storage);
  if (isLanguage(storedLanguage)) return storedLanguage;
  const browserPrimary = browserLanguage?.split("-", 1)[0]?.toLowerCase();
  return isLanguage(browserPrimary) ? browserPrimary : fallbackLanguage;
}

/** Stores the choice. Without storage it lasts until the page is reloaded. */
export function saveLanguage(storage: Pick<Storage, "setItem">, language: Language): void {
  try {
    storage.setItem(languageStorageKey, language);
  } catch {
    // Storage is full or forbidden: the page keeps the choice, the next one detects it anew.
  }
}

function readStoredLanguage(storage: Pick<Storage, "getItem">): string | null {
  try {
    return storage.getItem(languageStorageKey);
  } catch {
    return null; // storage is forbidden: the browser's language is used
  }
}
