import type { Language } from "../../language/language.ts";
import en from "./locales/en.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };

export type Texts = typeof en;

const textsByLanguage: Readonly<Record<Language, Texts>> = { en, es };

export function getTexts(language: Language): Texts {
  return textsByLanguage[language];
}
