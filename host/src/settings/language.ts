import { pageStorage, type Language } from "@relicario/shared/contract";
import { fallbackLanguage, isLanguage, saveLanguage } from "@relicario/shared/i18n";
import type { i18n as I18n } from "i18next";
import { useTranslation } from "react-i18next";

export function useLanguage(): Language {
  const { i18n } = useTranslation("common");
  return isLanguage(i18n.resolvedLanguage) ? i18n.resolvedLanguage : fallbackLanguage;
}

/** Returns a function that stores the language, loads its texts and sets the document's `lang`. */
export function createLanguageChanger(i18n: I18n, window: Window): (language: Language) => Promise<void> {
  return async (language) => {
    saveLanguage(pageStorage.local, language);
    await i18n.changeLanguage(language);
    window.document.documentElement.lang = language;
  };
}
