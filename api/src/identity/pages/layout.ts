import { fill, textsOf, type Language, type Texts } from "../language.ts";
import { assets } from "./assets.ts";
import { html, type Html } from "./html.ts";

/** What every page needs to be drawn. */
export interface Look {
  readonly language: Language;
  /** The portal's choice, when it passed one; else the browser's. */
  readonly theme: "light" | "dark" | undefined;
  readonly productName: string;
  /** Path of the issuer, such as `/realms/relicario`. */
  readonly base: string;
}

type Translate = (choose: (texts: Texts) => string, values?: Readonly<Record<string, string | number>>) => string;

/** Texts in the page's language; `{{product}}` is always known. */
export function translator(look: Look): Translate {
  const texts = textsOf(look.language);
  return (choose, values = {}) => fill(choose(texts), { product: look.productName, ...values });
}

/** A whole page. No script; `body` stands in the card, below the title. */
export function page(look: Look, { title, lead, body, script }: { title: string; lead: string; body: Html; script?: Html }): string {
  const t = translator(look);
  return html`<!doctype html>
<html lang="${look.language}"${look.theme === undefined ? null : html` data-theme="${look.theme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · ${look.productName}</title>
<link rel="icon" href="${look.base}${assets.icon.path}" type="image/svg+xml">
<link rel="preload" href="${look.base}${assets.font.path}" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="${look.base}${assets.style.path}">
</head>
<body>
<main>
<div class="sheet">
<p class="brand">${mark}<span>${look.productName}</span></p>
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

/** A locket. */
const mark = html`<svg viewBox="0 0 32 32" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false"><circle cx="16" cy="4.5" r="2.5"/><path d="M16 7c6.6 0 11 4.7 11 11s-4.9 11-11 11S5 24.3 5 18 9.4 7 16 7z"/><path d="M16 23.5c-3.2-2-5-4-5-6.1a2.7 2.7 0 0 1 5-1.4 2.7 2.7 0 0 1 5 1.4c0 2.1-1.8 4.1-5 6.1z" fill="currentColor" stroke="none"/></svg>`;
