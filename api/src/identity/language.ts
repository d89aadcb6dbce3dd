import en from "./locales/en.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };

export type Texts = typeof en;
export type Language = "en" | "es";

const textsByLanguage: Readonly<Record<Language, Texts>> = { en, es };

export function textsOf(language: Language): Texts {
  return textsByLanguage[language];
}

/**
 * The first language that we speak: of `ui_locales` (the portal's choice), then of the browser's
 * header; else English.
 */
export function chooseLanguage(uiLocales: unknown, acceptLanguage: string | undefined): Language {
  const requested = typeof uiLocales === "string" ? uiLocales.split(" ") : [];
  const accepted = (acceptLanguage ?? "")
    .split(",")
    .map((part) => {
      const [tag = "", ...parameters] = part.trim().split(/\s*;\s*/);
      const quality = Number(parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1);
      return { tag, quality: Number.isNaN(quality) ? 0 : quality };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag);
  for (const tag of [...requested, ...accepted]) {
    const language = tag.toLowerCase().split("-", 1)[0];
    if (language === "en" || language === "es") return language;
  }
  return "en";
}

/** Puts values where `{{name}}` stands. The result is text: whoever shows it escapes it. */
export function interpolate(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (placeholder, name: string) => String(values[name] ?? placeholder));
}
