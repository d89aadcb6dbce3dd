import { readFileSync, statSync } from "node:fs";

import type { Language, PortalTrustAnchors } from "@relicario/shared/contract";

/**
 * The host's page with a nonce of its own in each answer, vendor and public keys as inert JSON, the
 * vendor's document asked for ahead, and the host's texts in one language, or in none.
 */
export interface HostPage {
  readonly render: (nonce: string, language: Language | null) => string;
}

const trustAnchorsElement = /(<script\b[^>]*\bid="?portal-page"?[^>]*>)[^<]*(<\/script>)/;
const languageLink = /<link\b[^>]*\bhreflang="?([a-z]+)"?[^>]*>/g;

/** @throws Error when the page has no place for the JSON: the portal could not start from it */
export function createHostPage(template: string, trustAnchors: PortalTrustAnchors): HostPage {
  if (!trustAnchorsElement.test(template))
    throw new Error('the host\'s page has no <script type="application/json" id="portal-page">');
  // `<` would end the element early; `$` is special to replace(), so a function gives the text.
  const json = JSON.stringify(trustAnchors).replaceAll("<", "\\u003c");
  const preloadLink = `<link rel="preload" href="/deployments/${encodeURIComponent(trustAnchors.vendor_id)}" as="fetch" crossorigin="anonymous">`;
  const filledTemplate = template.replace(
    trustAnchorsElement,
    (_all, open: string, close: string) => `${open}${json}${close}${preloadLink}`,
  );
  return {
    render: (nonce, language) =>
      filledTemplate
        .replaceAll("{{nonce}}", nonce)
        .replace(languageLink, (link, linkLanguage: string) => (linkLanguage === language ? link : "")),
  };
}

/** The page of a file, read again when the file has changed. */
export function createHostPageReader(file: string, trustAnchors: PortalTrustAnchors): () => HostPage {
  let cached: { readonly modifiedMs: number; readonly page: HostPage } | null = null;
  return () => {
    const modifiedMs = statSync(file).mtimeMs;
    if (cached?.modifiedMs !== modifiedMs)
      cached = { modifiedMs, page: createHostPage(readFileSync(file, "utf8"), trustAnchors) };
    return cached.page;
  };
}
