export { getFormats, type Formats } from "./formats.ts";
export {
  createI18n,
  loadTexts,
  getActiveLanguage,
  textLoadingOptions,
  type FetchTexts,
  type I18nSettings,
  type Texts,
} from "./i18n.ts";
export { detectLanguage, fallbackLanguage, isLanguage, languageStorageKey, saveLanguage } from "./languages.ts";
