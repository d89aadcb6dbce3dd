import { interpolate, type Language } from "../../language/language.ts";
import { html, type Html } from "./html.ts";
import { getTexts, type Texts } from "./texts.ts";

/** What every page needs for rendering. */
export interface Appearance {
  readonly language: Language;
  /** The portal's choice, if any; else the browser decides. */
  readonly theme: "light" | "dark" | undefined;
  readonly productName: string;
  /** Path of the issuer, such as `/realms/relicario`. */
  readonly basePath: string;
}

type Translate = (choose: (texts: Texts) => string, values?: Readonly<Record<string, string | number>>) => string;

/** Translates into the page's language; `{{product}}` is always set. */
export function createTranslator(appearance: Appearance): Translate {
  const texts = getTexts(appearance.language);
  return (choose, values = {}) => interpolate(choose(texts), { product: appearance.productName, ...values });
}

/** Relative to the issuer. */
export const stylePath = "/assets/style.css";

/** Renders a page on which only `script` may run. */
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
<link rel="stylesheet" href="${appearance.basePath}${stylePath}">
</head>
<body>
<main>
<p>${appearance.productName}</p>
<h1>${title}</h1>
<p>${lead}</p>
${body}
</main>
<footer>${t((texts) => texts.common.footer)}</footer>
${script ?? null}
</body>
</html>
`.markup;
}
