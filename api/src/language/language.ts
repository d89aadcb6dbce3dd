import type { FastifyRequest } from "fastify";

export type Language = "en" | "es";

export interface RequestContext {
  readonly now: Date;
  readonly language: Language | null;
}

/**
 * The first supported language of `ui_locales` (the portal's choice), then of the browser's header;
 * else English.
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

/** The caller's language by `Accept-Language`, where the portal sends its own; null without one. */
export function getPreferredLanguage(request: FastifyRequest): Language | null {
  const header = request.headers["accept-language"];
  return header === undefined || header.trim() === "*" ? null : chooseLanguage(undefined, header);
}

export function getRequestContext(request: FastifyRequest, now: Date): RequestContext {
  return { now, language: getPreferredLanguage(request) };
}

/** Replaces `{{name}}` by values. The result is plain text: escape it for HTML. */
export function interpolate(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (placeholder, name: string) => String(values[name] ?? placeholder));
}
