import type { Language } from "@relicario/shared/contract";
import { fallbackLanguage, isLanguage } from "@relicario/shared/i18n";
import { useTranslation } from "react-i18next";

/** The language of the page; the caller is drawn again when it changes. */
export function useLanguage(): Language {
  const { i18n } = useTranslation("common");
  return isLanguage(i18n.resolvedLanguage) ? i18n.resolvedLanguage : fallbackLanguage;
}
