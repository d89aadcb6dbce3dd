import type { Language } from "@relicario/shared/contract";
import { rememberLanguage } from "@relicario/shared/i18n";
import type { i18n as I18n } from "i18next";

/** Remembers the choice, loads what the page shows in that language, and says so to the browser. */
export function languageChanger(i18n: I18n, window: Window): (language: Language) => Promise<void> {
  return async (language) => {
    rememberLanguage(window.localStorage, language);
    await i18n.changeLanguage(language);
    window.document.documentElement.lang = language;
  };
}
