import { interpolate, type Language } from "../../language/language.ts";
import { assets } from "./assets.ts";
import { html, type Html } from "./html.ts";
import { getTexts, type Texts } from "./texts.ts";

/** What every page needs to be drawn. */
export interface Appearance {
  readonly language: Language;
  /** The portal's choice, when it passed one; else the browser's. */
  readonly theme: "light" | "dark" | undefined;
  readonly productName: string;
  /** Path of the issuer, such as `/realms/relicario`. */
  readonly base: string;
}

type Translate = (choose: (texts: Texts) => string, values?: Readonly<Record<string, string | number>>) => string;

/** Texts in the page's language; `{{product}}` is always known. */
export function createTranslator(appearance: Appearance): Translate {
  const texts = getTexts(appearance.language);
  return (choose, values = {}) => interpolate(choose(texts), { product: appearance.productName, ...values });
}

/** A whole page. No script; `body` stands in the card, below the title. */
export function renderPage(
  appearance: Appearance,
  { title, lead, body, script }: { title: string; lead: string; body: Html; script?: Html },
): string {
  const t = createTranslator(appearance);
  return html`<!doctype html>
<html lang="${appearance.language}"${appearance.theme === undefined ? null : html` data-theme="${appearance.theme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · ${appearance.productName}</title>
<link rel="icon" href="${appearance.base}${assets.icon.path}" type="image/svg+xml">
<link rel="preload" href="${appearance.base}${assets.font.path}" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="${appearance.base}${assets.style.path}">
</head>
<body>
<main>
<div class="sheet">
<p class="brand">${logo}<span>${appearance.productName}</span></p>
<div class="card">
<h1>${title}</h1>
<p class="lead">${lead}</p>
${body}
</div>
</div>
</main>
<footer>${t((texts) => texts.common.footer)}</footer>
${script ?? null}
</body>
</html>
`.markup;
}

/** The mark that the portal has, so that the way there and back shows one. */
const logo = html`<svg viewBox="0 0 32 32" aria-hidden="true" focusable="false"><rect width="32" height="32" rx="9" fill="var(--accent)"/><g fill="none" stroke="var(--on-accent)" stroke-width="2" stroke-linecap="round"><path d="M16 7c-5 0-8 3.4-8 8.2C8 20.6 12.4 24 16 26c3.6-2 8-5.4 8-10.8C24 10.4 21 7 16 7Z"/><path d="M16 16v4"/></g><circle cx="16" cy="14.4" r="2.2" fill="var(--on-accent)"/></svg>`;
