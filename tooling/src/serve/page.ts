import { readFileSync, statSync } from "node:fs";

import type { Language, PortalPage } from "@relicario/shared/contract";

/**
 * The host's page with a nonce of its own in each answer, vendor and public keys as inert JSON, the
 * vendor's document asked for ahead, and the host's texts in one language, or in none.
 */
export interface Page {
  readonly html: (nonce: string, language: Language | null) => string;
}

const slot = /(<script\b[^>]*\bid="?portal-page"?[^>]*>)[^<]*(<\/script>)/;
const ofLanguage = /<link\b[^>]*\bhreflang="?([a-z]+)"?[^>]*>/g;

/** @throws Error when the page has no place for the JSON: the portal could not start from it */
export function pageFrom(template: string, content: PortalPage): Page {
  if (!slot.test(template))
    throw new Error('the host\'s page has no <script type="application/json" id="portal-page">');
  // `<` would end the element early; `$` is special to replace(), so a function gives the text.
  const json = JSON.stringify(content).replaceAll("<", "\\u003c");
  const ahead = `<link rel="preload" href="/deployments/${encodeURIComponent(content.vendor_id)}" as="fetch" crossorigin="anonymous">`;
  const filled = template.replace(slot, (_all, open: string, close: string) => `${open}${json}${close}${ahead}`);
  return {
    html: (nonce, language) =>
      filled.replaceAll("{{nonce}}", nonce).replace(ofLanguage, (link, of: string) => (of === language ? link : "")),
  };
}

/** The page of a file, read again when the file has changed. */
export function pageOfFile(file: string, content: PortalPage): () => Page {
  let known: { readonly changed: number; readonly page: Page } | null = null;
  return () => {
    const changed = statSync(file).mtimeMs;
    if (known?.changed !== changed) known = { changed, page: pageFrom(readFileSync(file, "utf8"), content) };
    return known.page;
  };
}
