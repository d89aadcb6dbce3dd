import type { IncomingMessage, ServerResponse } from "node:http";

import type { IdentitySettings } from "./env.ts";
import { chooseLanguage } from "./language.ts";
import type { Look } from "./pages/layout.ts";

/**
 * Language and theme of the last sign-in, for pages that nobody hands them to: signing out, errors.
 */
const lookCookie = "relicario_look";

/** Path of the issuer: everything lies below it, cookies too. */
export function basePath(settings: IdentitySettings): string {
  return new URL(settings.issuer).pathname;
}

/**
 * How a page looks for whoever asks: as the portal wishes, else as at the last sign-in, else as the
 * browser wishes.
 */
export function lookFor(
  settings: IdentitySettings,
  request: IncomingMessage,
  wished: { uiLocales?: unknown; theme?: unknown } = {},
): Look {
  const remembered = new RegExp(`(?:^|; )${lookCookie}=(en|es)\\.(light|dark|system)(?:;|$)`).exec(
    request.headers.cookie ?? "",
  );
  const asked = [wished.uiLocales, remembered?.[1]].filter((value) => typeof value === "string").join(" ");
  const theme = wished.theme ?? remembered?.[2];
  return {
    language: chooseLanguage(asked, request.headers["accept-language"]),
    theme: theme === "light" || theme === "dark" ? theme : undefined,
    productName: settings.productName,
    base: basePath(settings),
  };
}

export function rememberLook(response: ServerResponse, { language, theme, base }: Look): void {
  response.appendHeader(
    "Set-Cookie",
    `${lookCookie}=${language}.${theme ?? "system"}; Path=${base}; HttpOnly; SameSite=Lax`,
  );
}
