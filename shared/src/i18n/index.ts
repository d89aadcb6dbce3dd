export { formatsOf, type Formats } from "./formats.ts";
export {
  createI18n,
  loadTexts,
  shownLanguage,
  textLoading,
  type FetchTexts,
  type I18nSettings,
  type Texts,
} from "./i18n.ts";
export { detectLanguage, fallbackLanguage, isLanguage, languageKey, rememberLanguage } from "./languages.ts";
