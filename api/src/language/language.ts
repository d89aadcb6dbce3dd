import type { FastifyRequest } from "fastify";

export type Language = "en" | "es";

/** When a call came, and what its caller reads. */
export interface RequestContext {
  readonly now: Date;
  readonly language: Language | null;
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

/**
 * What the caller reads, by `Accept-Language`; null when the call does not say. The portal sends
 * the language that is chosen in it.
 */
export function getPreferredLanguage(request: FastifyRequest): Language | null {
  const header = request.headers["accept-language"];
  return header === undefined || header.trim() === "*" ? null : chooseLanguage(undefined, header);
}

/** Puts values where `{{name}}` stands. The result is text: whoever shows it escapes it. */
export function interpolate(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (placeholder, name: string) => String(values[name] ?? placeholder));
}
