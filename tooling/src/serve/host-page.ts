import { readFileSync, statSync } from "node:fs";

import type { Language, PortalTrustAnchors } from "@relicario/shared/contract";

/**
 * The host's page: a new nonce in each response, vendor and public keys as inert JSON, preload
 * links to the vendor's document and to the texts of one language.
 */
export interface HostPage {
  readonly render: (nonce: string, language: Language | null) => string;
}

interface HostPageOptions {
  /** Whether the page reads the deployment document itself. */
  readonly preloadsDeployment?: boolean;
}

const trustAnchorsElement = /(<script\b[^>]*\bid="?portal-page"?[^>]*>)[^<]*(<\/script>)/;
const languageLink = /<link\b[^>]*\bhreflang="?([a-z]+)"?[^>]*>/g;

/** @throws Error when the page has no element for the JSON */
export function createHostPage(
  template: string,
  trustAnchors: PortalTrustAnchors,
  { preloadsDeployment = true }: HostPageOptions = {},
): HostPage {
  if (!trustAnchorsElement.test(template))
    throw new Error('the host\'s page has no <script type="application/json" id="portal-page">');
  // `<` could end the element. `$` is special to replace(), so a function returns the text.
  const json = JSON.stringify(trustAnchors).replaceAll("<", "\\u003c");
  const preloadLink = !preloadsDeployment
    ? ""
    : `<link rel="preload" href="/deployments/${encodeURIComponent(trustAnchors.vendor_id)}" as="fetch" crossorigin="anonymous">`;
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

/** Reads the file again when it changes. */
export function createHostPageReader(
  file: string,
  trustAnchors: PortalTrustAnchors,
  options: HostPageOptions = {},
): () => HostPage {
  let cached: { readonly modifiedMs: number; readonly page: HostPage } | null = null;
  return () => {
    const modifiedMs = statSync(file).mtimeMs;
    if (cached?.modifiedMs !== modifiedMs)
      cached = { modifiedMs, page: createHostPage(readFileSync(file, "utf8"), trustAnchors, options) };
    return cached.page;
  };
}
